// replicas: copies of a record on several ranks are equal bit for bit. A NaN equals a NaN of the
// same bits here (its value is the business of the comparisons); -0 and +0 are unlike.
#pragma once
#include <cstdint>
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Reads every copy, compares all with the first and returns the first one's values; elements that
/// no piece holds are 0. Throws Error when a piece cannot be read. Coverage holds.
std::vector<double> check_replicas(const JudgeContext& context, const RecordEvidence& record,
                                   CheckResult& result);
std::vector<std::int64_t> check_integer_replicas(const JudgeContext& context,
                                                 const RecordEvidence& record, CheckResult& result);

}  // namespace meshparity
