// The feed-forward layer: down(act) + b with act = gelu(up) or silu(gate) up.
#pragma once
#include <vector>

#include "fixtures/model_spec.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/linear.hpp"
#include "reference/sample_tensors.hpp"
#include "reference/swiglu.hpp"

namespace meshparity::reference {

/// What backward needs of forward.
struct MlpTrace {
  Matrix gelu_cdf;
  SwigluTrace swiglu;
};

/// One layer's weights.
struct Mlp {
  const Weights& weights;
  const BlockPlaces& places;
  Activation activation;
};

/// From t.norm2: t.gate (swiglu), t.up, t.act, t.mlp_out.
void mlp(const Mlp& layer, Rounding& rounding, MlpTrace& trace, BlockTensors& t);

struct MlpPair {
  const MlpTrace& trace;
  const BlockTensors& values;
  BlockTensors& gradients;
};
/// From d.mlp_out: d.act, d.up, d.gate, d.norm2; adds to the gradients of the layer's parameters.
void mlp_backward(const Mlp& layer, Rounding& rounding, const MlpPair& pair,
                  std::vector<GradientSum>& sums);

}  // namespace meshparity::reference
