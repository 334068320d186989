// One pre-norm block: U = X + drop(Attn(N1(X))), Y = U + drop(MLP(N2(U))) (algorithms.md §0.6).
#pragma once
#include <vector>

#include "reference/attention.hpp"
#include "reference/dropout.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/mlp.hpp"
#include "reference/norm.hpp"
#include "reference/query_key.hpp"
#include "reference/sample_tensors.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

struct BlockMasks {
  DropoutMask attention;
  DropoutMask attention_residual;
  DropoutMask mlp_residual;
};

/// What backward needs of forward beyond the tensors.
struct BlockTrace {
  NormTrace norm1;
  NormTrace q_norm;
  NormTrace k_norm;
  NormTrace norm2;
  MlpTrace mlp;
};

/// One block's weights and keep decisions.
struct BlockInputs {
  const Weights& weights;
  const BlockPlaces& places;
  const BlockMasks& masks;
  const ModelSpec& model;
  const Rope* rope;  // nullptr: learned positions
};

/// From t.in to t.out.
void block_forward(const BlockInputs& block, Rounding& rounding, BlockTrace& trace,
                   BlockTensors& t);

/// A block's values and their gradients.
struct BlockPair {
  const BlockTrace& trace;
  const BlockTensors& values;
  BlockTensors& gradients;
};
/// From d.out to d.in; adds to the gradients of the block's parameters.
void block_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                    std::vector<GradientSum>& sums);

}  // namespace meshparity::reference
