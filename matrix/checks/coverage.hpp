// coverage, the declared half: every rank file is there and whole, every record of the level is
// there in every step, and each copy covers it exactly once (contracts.md §3, Ownership).
#pragma once
#include <vector>

#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Files missing, torn, or with a header that contradicts matrix's own rank formula.
void check_files(const JudgeContext& context, CheckResult& result);
/// True when every copy of the record covers it once, so that its values can be compared.
bool check_coverage(const JudgeContext& context, const RecordEvidence& record, CheckResult& result);
/// Records that the candidate holds and the reference does not know.
void check_unknown(const JudgeContext& context, const std::vector<RecordRow>& rows,
                   CheckResult& result);

}  // namespace meshparity
