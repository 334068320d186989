#include "reference/block.hpp"

#include "reference/gelu.hpp"
#include "reference/linear.hpp"

namespace meshparity::reference {
namespace {

NormWeights norm_weights(const BlockInputs& block, NormPlace place) {
  return {block.weights[place.weight].value, block.weights[place.bias].value, block.norm_epsilon};
}

/// sum = stream + drop(branch)
void add_branch(const Matrix& stream, const Matrix& branch, const DropoutMask& mask,
                Rounding& rounding, Matrix& sum) {
  dropout(branch, mask, rounding, sum);
  sum += stream;
  rounding.elementwise(sum);
}

/// total = through + of_branch: the gradient of a value that is used twice.
void add_gradients(const Matrix& through, Rounding& rounding, Matrix& total) {
  total += through;
  rounding.elementwise(total);
}

/// dx of y = W2 gelu(W1 norm2 + b1) + b2, and the gradients of its weights.
void mlp_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                  std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  add_linear_gradient(t.act, d.mlp_out, block.places.down, sums);
  multiply_transposed(d.mlp_out, block.weights[block.places.down.weight], rounding, d.act);
  gelu_backward(t.up, trace.gelu_cdf, d.act, rounding, d.up);
  add_linear_gradient(t.norm2, d.up, block.places.up, sums);
  multiply_transposed(d.up, block.weights[block.places.up.weight], rounding, d.norm2);
}

/// d.norm1 = dq Wq^T + dk Wk^T + dv Wv^T, added in this order.
void projections_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                          std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  add_linear_gradient(t.norm1, d.q, block.places.q, sums);
  add_linear_gradient(t.norm1, d.k, block.places.k, sums);
  add_linear_gradient(t.norm1, d.v, block.places.v, sums);
  multiply_transposed(d.q, block.weights[block.places.q.weight], rounding, d.norm1);
  Matrix other(d.norm1.rows(), d.norm1.cols());
  multiply_transposed(d.k, block.weights[block.places.k.weight], rounding, other);
  add_gradients(other, rounding, d.norm1);
  multiply_transposed(d.v, block.weights[block.places.v.weight], rounding, other);
  add_gradients(other, rounding, d.norm1);
}

}  // namespace

void block_forward(const BlockInputs& block, Rounding& rounding, BlockTrace& trace,
                   BlockTensors& t) {
  const Weights& weights = block.weights;
  const BlockPlaces& places = block.places;
  layer_norm(t.in, norm_weights(block, places.norm1), rounding, trace.norm1, t.norm1);
  linear(t.norm1, weights, places.q, rounding, t.q);
  linear(t.norm1, weights, places.k, rounding, t.k);
  linear(t.norm1, weights, places.v, rounding, t.v);
  attention(block.shape, block.masks.attention, rounding, t);
  linear(t.context, weights, places.out, rounding, t.attn_out);
  add_branch(t.in, t.attn_out, block.masks.attention_residual, rounding, t.residual);

  layer_norm(t.residual, norm_weights(block, places.norm2), rounding, trace.norm2, t.norm2);
  linear(t.norm2, weights, places.up, rounding, t.up);
  gelu(t.up, rounding, trace.gelu_cdf, t.act);
  linear(t.act, weights, places.down, rounding, t.mlp_out);
  add_branch(t.residual, t.mlp_out, block.masks.mlp_residual, rounding, t.out);
}

void block_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                    std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  const BlockPlaces& places = block.places;
  dropout(d.out, block.masks.mlp_residual, rounding, d.mlp_out);
  mlp_backward(block, rounding, pair, sums);
  add_layer_norm_gradient(d.norm2, trace.norm2, places.norm2, sums);
  layer_norm_backward(d.norm2, block.weights[places.norm2.weight].value, trace.norm2, rounding,
                      d.residual);
  add_gradients(d.out, rounding, d.residual);

  dropout(d.residual, block.masks.attention_residual, rounding, d.attn_out);
  add_linear_gradient(t.context, d.attn_out, places.out, sums);
  multiply_transposed(d.attn_out, block.weights[places.out.weight], rounding, d.context);
  attention_backward(block.shape, block.masks.attention, rounding, t, d);
  projections_backward(block, rounding, pair, sums);
  add_layer_norm_gradient(d.norm1, trace.norm1, places.norm1, sums);
  layer_norm_backward(d.norm1, block.weights[places.norm1.weight].value, trace.norm1, rounding,
                      d.in);
  add_gradients(d.residual, rounding, d.in);
}

}  // namespace meshparity::reference
