#include "parallel_impl/model/attention.hpp"

#include <fmt/format.h>

#include <cmath>

namespace meshparity {
namespace {

template <class T>
Param<T>& of_layer(Parameters<T>& params, int layer, const char* name) {
  return params.at(fmt::format("layer{}.attn.{}", layer, name));
}

}  // namespace

template <class T>
AttentionLayer<T>::Saved::Saved(const RankParts<T>& parts)
    : q(parts.backend, MemoryTag::activation_B, parts.extent.rows * parts.extent.head_width),
      k(parts.backend, MemoryTag::activation_B, q.count()),
      v(parts.backend, MemoryTag::activation_B, q.count()),
      context(parts.backend, MemoryTag::activation_W, q.count()),
      probs(parts.backend, MemoryTag::activation_B,
            parts.extent.rows * parts.extent.heads * parts.model.sequence),
      words(parts.words.buffer(parts.backend, probs.count())) {}

template <class T>
AttentionLayer<T>::AttentionLayer(RankParts<T>& parts, Parameters<T>& params, int layer)
    : parts_(parts),
      layer_(layer),
      q_(parts, of_layer(params, layer, "q.weight"), of_layer(params, layer, "q.bias")),
      k_(parts, of_layer(params, layer, "k.weight"), of_layer(params, layer, "k.bias")),
      v_(parts, of_layer(params, layer, "v.weight"), of_layer(params, layer, "v.bias")),
      out_(parts, of_layer(params, layer, "out.weight"), of_layer(params, layer, "out.bias"),
           "attn.out") {}

template <class T>
std::string AttentionLayer<T>::name(const char* record) const {
  return fmt::format("layer{}.attn.{}", layer_, record);
}

template <class T>
AttentionShape AttentionLayer<T>::shape() const {
  return {parts_.extent.samples, parts_.extent.heads, parts_.model.sequence, parts_.model.head_dim};
}

template <class T>
T AttentionLayer<T>::scale() const {
  return static_cast<T>(1.0 / std::sqrt(static_cast<double>(parts_.model.head_dim)));
}

template <class T>
void AttentionLayer<T>::forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out,
                                Saved& saved) const {
  saved.x = x;
  Tensor<T> q = matrix_in(saved.q, x.rows, shard(1));
  Tensor<T> k = matrix_in(saved.k, x.rows, shard(1));
  Tensor<T> v = matrix_in(saved.v, x.rows, shard(1));
  q_.forward(x, q);
  k_.forward(x, k);
  v_.forward(x, v);
  parts_.records.heads(Phase::forward, name("q"), q);
  parts_.records.heads(Phase::forward, name("k"), k);
  parts_.records.heads(Phase::forward, name("v"), v);
  attend(place, saved);
  out_.forward(place, matrix_in(saved.context, x.rows, shard(1)), out);
  parts_.records.features(Phase::forward, name("out"), out);
}

template <class T>
void AttentionLayer<T>::attend(const BatchPlace& place, Saved& saved) const {
  const LocalExtent& extent = parts_.extent;
  parts_.words.fill_attention(layer_, place, {extent.first_head, extent.heads}, saved.words);
  parts_.backend.run(AttentionForward<T>{
      saved.q.data(), saved.k.data(), saved.v.data(), saved.words.get(), saved.probs.data(),
      saved.context.data(), shape(), scale(), parts_.words.template rule<T>()});
  parts_.records.scores(Phase::forward, name("probs"),
                        matrix_in(saved.probs, extent.rows * extent.heads, shard(0)));
  parts_.records.heads(Phase::forward, name("context"),
                       matrix_in(saved.context, extent.rows, shard(1)));
}

template <class T>
void AttentionLayer<T>::backward(const BatchPlace& place, const Tensor<T>& grad_out,
                                 Tensor<T>& grad_x, Saved& saved) const {
  const int rows = grad_out.rows;
  Tensor<T> grad_context = matrix_in(parts_.work.grad_context, rows, shard(1));
  out_.weight_grad(matrix_in(saved.context, rows, shard(1)), grad_out);
  out_.input_grad(grad_out, grad_context);
  parts_.records.heads(Phase::backward, name("context"), grad_context);
  attend_backward(saved);
  projections_backward(place, grad_x, saved);
}

template <class T>
void AttentionLayer<T>::attend_backward(Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const DropoutRule<T> rule = parts_.words.template rule<T>();
  parts_.backend.run(AttentionProbsGrad<T>{saved.v.data(), work.grad_context.data(),
                                           saved.words.get(), work.grad_scores.data(), shape(),
                                           rule});
  parts_.records.scores(
      Phase::backward, name("probs"),
      matrix_in(work.grad_scores, parts_.extent.rows * parts_.extent.heads, shard(0)));
  parts_.backend.run(AttentionBackward<T>{
      saved.q.data(), saved.k.data(), saved.probs.data(), saved.context.data(),
      work.grad_context.data(), saved.words.get(), work.grad_scores.data(), work.grad_q.data(),
      work.grad_k.data(), work.grad_v.data(), shape(), scale(), rule});
}

template <class T>
void AttentionLayer<T>::projections_backward(const BatchPlace& place, Tensor<T>& grad_x,
                                             Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const Tensor<T> grad_q = matrix_in(work.grad_q, grad_x.rows, shard(1));
  const Tensor<T> grad_k = matrix_in(work.grad_k, grad_x.rows, shard(1));
  const Tensor<T> grad_v = matrix_in(work.grad_v, grad_x.rows, shard(1));
  parts_.records.heads(Phase::backward, name("v"), grad_v);
  parts_.records.heads(Phase::backward, name("k"), grad_k);
  parts_.records.heads(Phase::backward, name("q"), grad_q);
  q_.weight_grad(saved.x, grad_q);
  k_.weight_grad(saved.x, grad_k);
  v_.weight_grad(saved.x, grad_v);

  // q + k + v on this rank first, then one sum over the ranks for all three.
  Tensor<T> sibling = matrix_in(work.partial, grad_x.rows, part());
  q_.input_grad(grad_q, grad_x);
  k_.input_grad(grad_k, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, grad_x.data, grad_x.count()});
  v_.input_grad(grad_v, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, grad_x.data, grad_x.count()});
  sum_over_tp(parts_, grad_x, site_in(place, layer_, "attn.qkv", "backward"));
}

template class AttentionLayer<double>;
template class AttentionLayer<float>;

}  // namespace meshparity
