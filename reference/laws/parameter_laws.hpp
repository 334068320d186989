// The laws about one parameter in one step: what the optimizer did to its moments and to itself,
// and whether the copy that computes is the rounded master.
#pragma once
#include <vector>

#include "reference/laws/law_inputs.hpp"

namespace meshparity::reference {

/// moment1 and moment2 (as the optimizer has them), update (of the master where there is one),
/// compute_copy (where there is one). In a skipped step nothing may have moved.
void add_parameter_laws(LawInputs& inputs, std::size_t i, std::vector<Law>& laws);

}  // namespace meshparity::reference
