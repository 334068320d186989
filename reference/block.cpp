#include "reference/block.hpp"

#include <optional>

#include "reference/linear.hpp"

namespace meshparity::reference {
namespace {

NormWeights norm_weights(const BlockInputs& block, NormPlace place, Norm kind) {
  const Matrix* bias = place.bias ? &block.weights[*place.bias].value : nullptr;
  return {block.weights[place.weight].value, bias, block.model.norm_epsilon, kind};
}
NormWeights norm_weights(const BlockInputs& block, NormPlace place) {
  return norm_weights(block, place, block.model.norm);
}

ScorePath score_path(const BlockInputs& block, NormPlace head_norm) {
  ScorePath path = {block.rope, std::nullopt};
  if (block.model.qk_norm) {
    path.norm.emplace(HeadNorm{norm_weights(block, head_norm, Norm::rmsnorm), head_norm});
  }
  return path;
}

AttentionInputs attention_inputs(const BlockInputs& block) {
  const ModelSpec& model = block.model;
  const Matrix* sink = model.attention_sink ? &block.weights[block.places.sink].value : nullptr;
  return {{model.heads, model.kv_heads, model.head_dim}, block.masks.attention, sink};
}

/// sum = stream + drop(branch)
void add_branch(const Matrix& stream, const Matrix& branch, const DropoutMask& mask,
                Rounding& rounding, Matrix& sum) {
  dropout(branch, mask, rounding, sum);
  sum += stream;
  rounding.elementwise(sum);
  rounding.stored(sum);
}

/// total = through + of_branch: the gradient of a value that is used twice.
void add_gradients(const Matrix& through, Rounding& rounding, Matrix& total) {
  total += through;
  rounding.elementwise(total);
}

/// d.norm1 = dq Wq^T + dk Wk^T + dv Wv^T, added in this order; d.q_proj and d.k_proj are given.
void projections_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                          std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  add_linear_gradient(t.norm1, d.q_proj, block.places.q, rounding, sums);
  add_linear_gradient(t.norm1, d.k_proj, block.places.k, rounding, sums);
  add_linear_gradient(t.norm1, d.v, block.places.v, rounding, sums);
  multiply_transposed(d.q_proj, block.weights[block.places.q.weight], rounding, d.norm1);
  Matrix other(d.norm1.rows(), d.norm1.cols());
  multiply_transposed(d.k_proj, block.weights[block.places.k.weight], rounding, other);
  add_gradients(other, rounding, d.norm1);
  multiply_transposed(d.v, block.weights[block.places.v.weight], rounding, other);
  add_gradients(other, rounding, d.norm1);
  rounding.stored(d.norm1);
}

void attention_forward(const BlockInputs& block, Rounding& rounding, BlockTrace& trace,
                       BlockTensors& t) {
  const Weights& weights = block.weights;
  const BlockPlaces& places = block.places;
  norm(t.in, norm_weights(block, places.norm1), rounding, trace.norm1, t.norm1);
  rounding.stored(t.norm1);
  linear(t.norm1, weights, places.q, rounding, t.q_proj);
  linear(t.norm1, weights, places.k, rounding, t.k_proj);
  linear(t.norm1, weights, places.v, rounding, t.v);
  enter_scores(score_path(block, places.q_norm), t.q_proj, rounding, trace.q_norm, t.q);
  enter_scores(score_path(block, places.k_norm), t.k_proj, rounding, trace.k_norm, t.k);
  rounding.stored(t.q);
  rounding.stored(t.k);
  rounding.stored(t.v);
  attention(attention_inputs(block), rounding, t);
  rounding.stored(t.context);
  linear(t.context, weights, places.out, rounding, t.attn_out);
}

/// From d.attn_out to d.norm1.
void attention_path_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                             std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  const BlockPlaces& places = block.places;
  add_linear_gradient(t.context, d.attn_out, places.out, rounding, sums);
  multiply_transposed(d.attn_out, block.weights[places.out.weight], rounding, d.context);
  rounding.stored(d.context);
  attention_backward(attention_inputs(block), rounding, t, d);
  if (block.model.attention_sink) {
    sums[places.sink].add_rows(one_column_a_head(d.sink, block.model.heads));
  }
  rounding.stored(d.q);
  rounding.stored(d.k);
  rounding.stored(d.v);
  d.q_proj = d.q;
  d.k_proj = d.k;
  enter_scores_backward(score_path(block, places.q_norm), trace.q_norm, rounding, d.q_proj, sums);
  enter_scores_backward(score_path(block, places.k_norm), trace.k_norm, rounding, d.k_proj, sums);
  projections_backward(block, rounding, pair, sums);
}

/// From dy of a norm's output to its input, plus the gradient that passes by on the stream.
struct NormBackward {
  const NormTrace& trace;
  NormPlace place;
  const Matrix& dy;
  const Matrix& passing;
};
void rejoin_stream(const BlockInputs& block, const NormBackward& back, Rounding& rounding,
                   Matrix& dx, std::vector<GradientSum>& sums) {
  add_norm_gradient(back.dy, back.trace, back.place, sums);
  norm_backward(back.dy, norm_weights(block, back.place), back.trace, rounding, dx);
  add_gradients(back.passing, rounding, dx);
  rounding.stored(dx);
}

}  // namespace

void block_forward(const BlockInputs& block, Rounding& rounding, BlockTrace& trace,
                   BlockTensors& t) {
  attention_forward(block, rounding, trace, t);
  add_branch(t.in, t.attn_out, block.masks.attention_residual, rounding, t.residual);
  norm(t.residual, norm_weights(block, block.places.norm2), rounding, trace.norm2, t.norm2);
  rounding.stored(t.norm2);
  mlp({block.weights, block.places, block.model.activation}, rounding, trace.mlp, t);
  add_branch(t.residual, t.mlp_out, block.masks.mlp_residual, rounding, t.out);
}

void block_backward(const BlockInputs& block, Rounding& rounding, const BlockPair& pair,
                    std::vector<GradientSum>& sums) {
  const auto& [trace, t, d] = pair;
  dropout(d.out, block.masks.mlp_residual, rounding, d.mlp_out);
  mlp_backward({block.weights, block.places, block.model.activation}, rounding, {trace.mlp, t, d},
               sums);
  rounding.stored(d.norm2);
  rejoin_stream(block, {trace.norm2, block.places.norm2, d.norm2, d.out}, rounding, d.residual,
                sums);
  dropout(d.residual, block.masks.attention_residual, rounding, d.attn_out);
  attention_path_backward(block, rounding, pair, sums);
  rejoin_stream(block, {trace.norm1, block.places.norm1, d.norm1, d.residual}, rounding, d.in,
                sums);
}

}  // namespace meshparity::reference
