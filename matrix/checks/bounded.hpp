// forward, logits, loss, backward, grad, scalar, step: a record within the limits of its
// companions (bounds.md §3.2, §3.8).
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Above this share of its limit a record is listed (bounds.md §3.8, NEAR).
inline constexpr double kNear = 0.75;

/// Elements that no mask demands are left out; the values are finite.
void check_bounded(const JudgeContext& context, const RecordEvidence& record,
                   const RecordValues& values, CheckResult& result);

}  // namespace meshparity
