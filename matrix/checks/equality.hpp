// Comparisons that need no limits: finite or not, equal or not.
#pragma once
#include <cstdint>
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// NaN or infinity where the reference is finite diverges before any statistic; a reference that
/// is not finite is inconclusive. False when either happened.
bool check_finite(const JudgeContext& context, const RecordEvidence& record,
                  const RecordValues& values, CheckResult& result);
/// Element by element: what no rounding reaches, and integers. -0 equals +0, NaN equals nothing.
void check_equal(const JudgeContext& context, const RecordEvidence& record,
                 const RecordValues& values, CheckResult& result);
void check_equal_integers(const JudgeContext& context, const RecordEvidence& record,
                          const std::vector<std::int64_t>& candidate, CheckResult& result);

}  // namespace meshparity
