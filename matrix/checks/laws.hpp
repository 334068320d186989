// Laws: a record within the worst case of its own roundings, given what the candidate itself dumped
// of the step (bounds.md §3.4). Value and limit come from the rebased reference; none is formed
// here.
#pragma once
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Elements that no mask demands are left out. An element beyond its limit, or not a number,
/// diverges; a law whose own value is not finite is inconclusive.
void check_law(const JudgeContext& context, const RecordEvidence& record, const LawRow& law,
               const std::vector<double>& candidate, CheckResult& result);

}  // namespace meshparity
