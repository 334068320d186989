// Which laws a step of a case is asked at level standard, and their answers from a candidate's own
// dump (contracts.md §3, Levels).
#pragma once
#include <vector>

#include "reference/laws/law_inputs.hpp"

namespace meshparity::reference {

/// clip_norm and clip_coefficient (not of a skipped step), loss_sum, those of each parameter, and
/// at level all those of operations
/// and of sums over ranks. A law whose inputs the candidate did not dump is there too,
/// saying what is missing.
std::vector<Law> laws_of_step(const LawCase& question, CandidateStep& candidate);

}  // namespace meshparity::reference
