// Which operations of a forward pass are asked for their law at level all.
#pragma once
#include <vector>

#include "reference/laws/law_inputs.hpp"

namespace meshparity::reference {

/// linear: attn.out, mlp.out, logits; norm: norm1, norm2, final_norm; softmax: attn.probs.
void add_forward_laws(LawInputs& inputs, std::vector<Law>& laws);

}  // namespace meshparity::reference
