// Laws of sums over ranks, from what each rank put in (bounds.md §3.4): a sum that was rounded on
// its way or left a rank out breaks them in every lane.
#pragma once
#include <span>
#include <vector>

#include "reference/laws/law_inputs.hpp"

namespace meshparity::reference {

/// One element of a sum over P ranks: (P-1) u sum|c|, in any order. `after` operations follow, each
/// u of the result: 2 for a gradient (divided by its count times the loss scale), 1 for a bias. Of
/// a rounded sum the contributions are rounded here as they must have been, exactly; the sum may be
/// half a bfloat16 spacing off.
struct ReductionLaw {
  StepType type;
  Wide divisor = 1;
  Wide bias = 0;
  int after = 0;
  bool rounded = false;  // contributions and sum travel in bfloat16: each is rounded once

  Demand element(std::span<const Wide> contributions) const;
};

/// reduction: each gradient, attn.out and mlp.out whose contributions the candidate dumped.
void add_reduction_laws(LawInputs& inputs, std::vector<Law>& laws);

}  // namespace meshparity::reference
