#include "reference/mlp.hpp"

#include "reference/gelu.hpp"

namespace meshparity::reference {

void mlp(const Mlp& layer, Rounding& rounding, MlpTrace& trace, BlockTensors& t) {
  const auto& [weights, places, activation] = layer;
  linear(t.norm2, weights, places.up, rounding, t.up);
  if (activation == Activation::swiglu) {
    linear(t.norm2, weights, places.gate, rounding, t.gate);
    swiglu({t.gate, t.up}, rounding, trace.swiglu, t.act);
  } else {
    gelu(t.up, rounding, trace.gelu_cdf, t.act);
  }
  rounding.stored(t.act);
  linear(t.act, weights, places.down, rounding, t.mlp_out);
}

void mlp_backward(const Mlp& layer, Rounding& rounding, const MlpPair& pair,
                  std::vector<GradientSum>& sums) {
  const auto& [weights, places, activation] = layer;
  const auto& [trace, t, d] = pair;
  add_linear_gradient(t.act, d.mlp_out, places.down, rounding, sums);
  multiply_transposed(d.mlp_out, weights[places.down.weight], rounding, d.act);
  rounding.stored(d.act);
  if (activation == Activation::gelu_erf) {
    gelu_backward(t.up, trace.gelu_cdf, d.act, rounding, d.up);
  } else {
    swiglu_backward({t.gate, t.up}, trace.swiglu, d.act, rounding, {d.gate, d.up});
  }
  add_linear_gradient(t.norm2, d.up, places.up, rounding, sums);
  multiply_transposed(d.up, weights[places.up.weight], rounding, d.norm2);
  if (activation == Activation::swiglu) {
    add_linear_gradient(t.norm2, d.gate, places.gate, rounding, sums);
    Matrix of_gate(d.norm2.rows(), d.norm2.cols());
    multiply_transposed(d.gate, weights[places.gate.weight], rounding, of_gate);
    d.norm2 += of_gate;
    rounding.elementwise(d.norm2);
  }
}

}  // namespace meshparity::reference
