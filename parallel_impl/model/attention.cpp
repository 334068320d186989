#include "parallel_impl/model/attention.hpp"

#include <fmt/format.h>

#include <cmath>

#include "parallel_impl/model/stream.hpp"

namespace meshparity {
namespace {

template <class T>
Param<T>& of_layer(Parameters<T>& params, int layer, const char* name) {
  return params.at(fmt::format("layer{}.attn.{}", layer, name));
}

template <class T>
Param<T>* find(Parameters<T>& params, int layer, const char* name) {
  return params.find(fmt::format("layer{}.attn.{}", layer, name));
}

template <class T>
std::int64_t score_rows(const RankParts<T>& parts) {
  return static_cast<std::int64_t>(parts.extent.rows) * parts.extent.heads;
}

}  // namespace

template <class T>
AttentionLayer<T>::Saved::Saved(const RankParts<T>& parts)
    : q(parts.backend, MemoryTag::activation_B, parts.extent.rows * parts.extent.head_width),
      context(parts.backend, MemoryTag::activation_W, q.count()),
      k(parts.backend, MemoryTag::activation_B, parts.extent.rows * parts.extent.kv_width),
      v(parts.backend, MemoryTag::activation_B, k.count()),
      q_transform(parts, parts.extent.heads),
      k_transform(parts, parts.extent.kv_heads),
      probs(parts.backend, MemoryTag::activation_B, score_rows(parts) * parts.model.sequence),
      sink_probs(parts.backend, MemoryTag::activation_B,
                 parts.model.attention_sink ? score_rows(parts) : 0),
      words(parts.words.buffer(parts.backend, probs.count())) {}

template <class T>
AttentionLayer<T>::AttentionLayer(RankParts<T>& parts, Parameters<T>& params,
                                  const Rotation<T>& rotation, int layer)
    : parts_(parts),
      layer_(layer),
      q_(parts, of_layer(params, layer, "q.weight"), find(params, layer, "q.bias")),
      k_(parts, of_layer(params, layer, "k.weight"), find(params, layer, "k.bias")),
      v_(parts, of_layer(params, layer, "v.weight"), find(params, layer, "v.bias")),
      q_transform_(parts, find(params, layer, "q_norm.weight"), rotation),
      k_transform_(parts, find(params, layer, "k_norm.weight"), rotation),
      sink_(find(params, layer, "sink")),
      out_(parts, of_layer(params, layer, "out.weight"), find(params, layer, "out.bias"),
           "attn.out") {}

template <class T>
std::string AttentionLayer<T>::name(const char* record) const {
  return fmt::format("layer{}.attn.{}", layer_, record);
}

template <class T>
AttentionShape AttentionLayer<T>::shape() const {
  return {parts_.extent.samples, parts_.extent.heads, parts_.extent.kv_heads, parts_.model.sequence,
          parts_.model.head_dim};
}

template <class T>
double AttentionLayer<T>::scale() const {
  // A planted fault takes this rank's features by the heads of all ranks for a head's width.
  const bool local = parts_.faults.fires("attention_scale_of_local_width", layer_);
  const int parts = local ? parts_.tp.size() : 1;
  return 1.0 / std::sqrt(static_cast<double>(parts_.model.head_dim) / parts);
}

template <class T>
void AttentionLayer<T>::forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out,
                                Saved& saved) const {
  saved.x = x;
  project(all_rows(parts_, x, parts_.work.gathered, site_in(place, layer_, "attn.qkv", "forward")),
          saved);
  attend(place, saved);
  out_.forward(place, matrix_in(saved.context, parts_.extent.rows, shard(1)), out);
  parts_.records.features(Phase::forward, name("out"), out);
}

template <class T>
void AttentionLayer<T>::project(const Tensor<T>& x, Saved& saved) const {
  Tensor<T> q = matrix_in(saved.q, x.rows, shard(1));
  Tensor<T> k = matrix_in(saved.k, x.rows, shard(1));
  Tensor<T> v = matrix_in(saved.v, x.rows, shard(1));
  q_.forward(x, q);
  k_.forward(x, k);
  v_.forward(x, v);
  if (has_transform()) {
    parts_.records.heads(Phase::forward, name("q_proj"), q);
    parts_.records.kv_heads(Phase::forward, name("k_proj"), k, parts_.extent.kv_copies);
  }
  q_transform_.forward(q, saved.q_transform);
  k_transform_.forward(k, saved.k_transform);
  if (parts_.faults.fires("keys_turned_twice", layer_)) {
    k_transform_.forward(k, saved.k_transform);
  }
  parts_.records.heads(Phase::forward, name("q"), q);
  parts_.records.kv_heads(Phase::forward, name("k"), k, parts_.extent.kv_copies);
  parts_.records.kv_heads(Phase::forward, name("v"), v, parts_.extent.kv_copies);
}

template <class T>
void AttentionLayer<T>::attend(const BatchPlace& place, Saved& saved) const {
  const LocalExtent& extent = parts_.extent;
  parts_.words.fill_attention(layer_, place, {extent.first_head, extent.heads}, saved.words);
  parts_.backend.run(AttentionForward<T>{
      saved.q.data(), saved.k.data(), saved.v.data(), sink_ == nullptr ? nullptr : sink_->value,
      saved.words.get(), saved.probs.data(), saved.sink_probs.data(), saved.context.data(), shape(),
      scale(), parts_.words.template rule<T>(),
      parts_.faults.fires("causal_ahead", layer_) ? 1 : 0});
  parts_.records.scores(Phase::forward, name("probs"),
                        matrix_in(saved.probs, extent.rows * extent.heads, shard(0)));
  parts_.records.heads(Phase::forward, name("context"),
                       matrix_in(saved.context, extent.rows, shard(1)));
}

template <class T>
void AttentionLayer<T>::backward(const BatchPlace& place, const Tensor<T>& grad_out,
                                 Tensor<T>& grad_x, Saved& saved) const {
  const int rows = parts_.extent.rows;
  Tensor<T> grad_context = matrix_in(parts_.work.grad_context, rows, shard(1));
  out_.bias_grad(grad_out);
  const Tensor<T> grad_rows = out_.all_rows_of(place, grad_out);
  out_.weight_grad(matrix_in(saved.context, rows, shard(1)), grad_rows);
  out_.input_grad(grad_rows, grad_context);
  parts_.records.heads(Phase::backward, name("context"), grad_context);
  attend_backward(saved);
  transforms_backward(place, saved);
  projections_backward(place, grad_x, saved);
}

template <class T>
void AttentionLayer<T>::attend_backward(Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const DropoutRule<T> rule = parts_.words.template rule<T>();
  if (sink_ != nullptr) {
    parts_.backend.run(AttentionSinkGrad<T>{saved.sink_probs.data(), saved.context.data(),
                                            work.grad_context.data(), work.param_grad.data(),
                                            shape()});
    add_param_grad(parts_, *sink_);
  }
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

/// At level all the record needs the sum over the ranks that hold the same key head, which nothing
/// else does: their weights' gradients are summed after the last micro-batch.
template <class T>
void AttentionLayer<T>::record_kv_grad(const BatchPlace& place, const char* record,
                                       const Tensor<T>& grad) const {
  const LocalExtent& extent = parts_.extent;
  if (extent.kv_copies == 1 || !parts_.records.wants(Phase::backward, name(record))) {
    parts_.records.kv_heads(Phase::backward, name(record), grad, extent.kv_copies);
    return;
  }
  const Tensor<T> sum = matrix_in(parts_.work.kv_sum, grad.rows, shard(1));
  parts_.backend.run(Copy<T>{grad.data, sum.data, grad.count()});
  parts_.comm.all_reduce(parts_.kv, sum.span(), ReduceOp::sum,
                         site_in(place, layer_, fmt::format("record.{}", record), "backward"));
  parts_.records.kv_heads(Phase::backward, name(record), sum, extent.kv_copies);
}

template <class T>
void AttentionLayer<T>::transforms_backward(const BatchPlace& place, Saved& saved) const {
  Workspace<T>& work = parts_.work;
  Tensor<T> grad_q = matrix_in(work.grad_q, parts_.extent.rows, shard(1));
  Tensor<T> grad_k = matrix_in(work.grad_k, parts_.extent.rows, shard(1));
  record_kv_grad(place, "v", matrix_in(work.grad_v, parts_.extent.rows, shard(1)));
  record_kv_grad(place, "k", grad_k);
  parts_.records.heads(Phase::backward, name("q"), grad_q);
  if (has_transform()) {
    k_transform_.backward(grad_k, saved.k_transform);
    q_transform_.backward(grad_q, saved.q_transform);
    record_kv_grad(place, "k_proj", grad_k);
    parts_.records.heads(Phase::backward, name("q_proj"), grad_q);
  }
}

template <class T>
void AttentionLayer<T>::projections_backward(const BatchPlace& place, Tensor<T>& grad_x,
                                             Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const int rows = parts_.extent.rows;
  const Tensor<T> grad_q = matrix_in(work.grad_q, rows, shard(1));
  const Tensor<T> grad_k = matrix_in(work.grad_k, rows, shard(1));
  const Tensor<T> grad_v = matrix_in(work.grad_v, rows, shard(1));
  const Tensor<T> x = all_rows(parts_, saved.x, work.gathered,
                               site_in(place, layer_, "attn.qkv.input", "backward"));
  q_.weight_grad(x, grad_q);
  k_.weight_grad(x, grad_k);
  v_.weight_grad(x, grad_v);

  // q + k + v on this rank first, then one sum over the ranks for all three.
  Tensor<T> share = before_sum(parts_, grad_x);
  Tensor<T> sibling = matrix_in(work.partial, rows, part());
  q_.input_grad(grad_q, share);
  k_.input_grad(grad_k, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, share.data, share.count()});
  v_.input_grad(grad_v, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, share.data, share.count()});
  sum_into_stream(parts_, share, grad_x, site_in(place, layer_, "attn.qkv", "backward"));
}

template class AttentionLayer<double>;
template class AttentionLayer<float>;

}  // namespace meshparity
