// axis_took_effect: every axis of degree above 1 moved bytes on every rank, in groups that are that
// axis's by matrix's own formula, tensor parallelism made weights smaller, and sequence
// parallelism the rows between its regions. The worker's word for its layout is not taken.
// Inconclusive when it did not.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

void check_axes(const JudgeContext& context, const std::vector<RecordRow>& rows,
                CheckResult& result);

}  // namespace meshparity
