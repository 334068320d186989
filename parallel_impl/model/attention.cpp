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
AttentionLayer<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags)
    : q(parts.backend, tags.until_input_grad, parts.extent.rows * parts.extent.head_width),
      context(parts.backend, tags.until_weight_grad, q.count()),
      k(parts.backend, tags.until_input_grad, parts.extent.rows * parts.extent.kv_width),
      v(parts.backend, tags.until_input_grad, k.count()),
      q_transform(parts, tags, parts.extent.heads),
      k_transform(parts, tags, parts.extent.kv_heads) {
  if (parts.recompute != Recompute::selective) {
    probs =
        Buffer<T>(parts.backend, tags.until_input_grad, score_rows(parts) * parts.model.sequence);
    sink_probs = Buffer<T>(parts.backend, tags.until_input_grad,
                           parts.model.attention_sink ? score_rows(parts) : 0);
    words = parts.words.buffer(parts.backend, tags.until_input_grad, probs.count());
  }
}

template <class T>
void AttentionLayer<T>::Saved::keep_grads(const RankParts<T>& parts) {
  constexpr MemoryTag kTag = MemoryTag::activation_W;
  grad_q = Buffer<T>(parts.backend, kTag, q.count());
  grad_k = Buffer<T>(parts.backend, kTag, k.count());
  grad_v = Buffer<T>(parts.backend, kTag, v.count());
  kept_rows = Buffer<T>(parts.backend, kTag,
                        static_cast<std::int64_t>(parts.extent.rows) * parts.model.hidden);
}

template <class T>
void AttentionLayer<T>::Saved::release_for_weights() {
  for (Buffer<T>* buffer : {&q, &k, &v, &probs, &sink_probs, &q_transform.projected,
                            &q_transform.inverse, &k_transform.projected, &k_transform.inverse}) {
    buffer->reset();
  }
  words.reset();
}

template <class T>
AttentionLayer<T>::AttentionLayer(RankParts<T>& parts, Parameters<T>& params,
                                  const Rotation<T>& rotation, int layer)
    : parts_(parts),
      layer_(layer),
      q_(parts, of_layer(params, layer, "q.weight"), find(params, layer, "q.bias"),
         grads_of_projections()),
      k_(parts, of_layer(params, layer, "k.weight"), find(params, layer, "k.bias"),
         grads_of_projections()),
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
  project(
      all_rows(parts_, x, parts_.work.gathered, forward_site(parts_, place, layer_, "attn.qkv")),
      saved);
  attend(place, saved);
  record_attended(saved);
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
  for (const Tensor<T>& made : {q, k, v}) {
    parts_.pass_on(made);
  }
  parts_.records.heads(Phase::forward, name("q"), q);
  parts_.records.kv_heads(Phase::forward, name("k"), k, parts_.extent.kv_copies);
  parts_.records.kv_heads(Phase::forward, name("v"), v, parts_.extent.kv_copies);
}

template <class T>
void AttentionLayer<T>::attend(const BatchPlace& place, Saved& saved) const {
  const LocalExtent& extent = parts_.extent;
  parts_.words.fill_attention(layer_, place, {extent.first_head, extent.heads}, words(saved));
  parts_.backend.run(AttentionForward<T>{
      saved.q.data(), saved.k.data(), saved.v.data(), sink_ == nullptr ? nullptr : sink_->value,
      words(saved).get(), probs(saved).data(), sink_probs(saved).data(), saved.context.data(),
      shape(), scale(), parts_.words.template rule<T>(),
      parts_.faults.fires("causal_ahead", layer_) ? 1 : 0, parts_.is_short});
  parts_.pass_on(matrix_in(saved.context, extent.rows, shard(1)));
}

template <class T>
void AttentionLayer<T>::record_attended(Saved& saved) const {
  const LocalExtent& extent = parts_.extent;
  parts_.records.scores(Phase::forward, name("probs"),
                        matrix_in(probs(saved), extent.rows * extent.heads, shard(0)));
  parts_.records.heads(Phase::forward, name("context"),
                       matrix_in(saved.context, extent.rows, shard(1)));
}

template <class T>
typename AttentionLayer<T>::Grads AttentionLayer<T>::grads(Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const int rows = parts_.extent.rows;
  return {matrix_in(own_or(saved.grad_q, work.grad_q), rows, shard(1)),
          matrix_in(own_or(saved.grad_k, work.grad_k), rows, shard(1)),
          matrix_in(own_or(saved.grad_v, work.grad_v), rows, shard(1))};
}

template <class T>
void AttentionLayer<T>::backward(const BatchPlace& place, const Tensor<T>& grad_out,
                                 Tensor<T>& grad_x, Saved& saved) const {
  if (parts_.splits_backward) {
    saved.keep_grads(parts_);
  }
  if (drops_scores()) {
    attend(place, saved);
  }
  Tensor<T> grad_context = matrix_in(parts_.work.grad_context, parts_.extent.rows, shard(1));
  out_.bias_grad(grad_out);
  saved.grad_rows = out_.all_rows_of(place, grad_out, saved.kept_rows);
  out_.input_grad(saved.grad_rows, grad_context);
  parts_.pass_on(grad_context);
  parts_.records.heads(Phase::backward, name("context"), grad_context);
  attend_backward(saved);
  transforms_backward(place, saved);
  if (!parts_.splits_backward) {
    weight_backward(place, saved);
  }
  inputs_backward(place, grad_x, saved);
}

template <class T>
void AttentionLayer<T>::attend_backward(Saved& saved) const {
  Workspace<T>& work = parts_.work;
  const DropoutRule<T> rule = parts_.words.template rule<T>();
  if (sink_ != nullptr) {
    parts_.backend.run(AttentionSinkGrad<T>{sink_probs(saved).data(), saved.context.data(),
                                            work.grad_context.data(), work.param_grad.data(),
                                            shape()});
    add_param_grad(parts_, *sink_);
  }
  parts_.backend.run(AttentionProbsGrad<T>{saved.v.data(), work.grad_context.data(),
                                           words(saved).get(), work.grad_scores.data(), shape(),
                                           rule});
  parts_.records.scores(
      Phase::backward, name("probs"),
      matrix_in(work.grad_scores, parts_.extent.rows * parts_.extent.heads, shard(0)));
  const Grads out = grads(saved);
  parts_.backend.run(AttentionBackward<T>{
      saved.q.data(), saved.k.data(), probs(saved).data(), saved.context.data(),
      work.grad_context.data(), words(saved).get(), work.grad_scores.data(), out.q.data, out.k.data,
      out.v.data, shape(), scale(), rule, parts_.is_short});
  for (const Tensor<T>& made : {out.q, out.k, out.v}) {
    parts_.pass_on(made);
  }
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
  Grads of = grads(saved);
  record_kv_grad(place, "v", of.v);
  record_kv_grad(place, "k", of.k);
  parts_.records.heads(Phase::backward, name("q"), of.q);
  if (has_transform()) {
    k_transform_.backward(of.k, saved.k_transform);
    q_transform_.backward(of.q, saved.q_transform);
    record_kv_grad(place, "k_proj", of.k);
    parts_.records.heads(Phase::backward, name("q_proj"), of.q);
  }
}

/// q + k + v on this rank first, then one sum over the ranks for all three.
template <class T>
void AttentionLayer<T>::inputs_backward(const BatchPlace& place, Tensor<T>& grad_x,
                                        Saved& saved) const {
  const Grads of = grads(saved);
  Tensor<T> share = before_sum(parts_, grad_x);
  Tensor<T> sibling = matrix_in(parts_.work.partial, parts_.extent.rows, part());
  q_.input_grad(of.q, share);
  k_.input_grad(of.k, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, share.data, share.count()});
  v_.input_grad(of.v, sibling);
  parts_.backend.run(AddInto<T>{sibling.data, share.data, share.count()});
  sum_into_stream(parts_, share, grad_x, site_in(place, layer_, "attn.qkv", "backward"));
}

template <class T>
void AttentionLayer<T>::weight_backward(const BatchPlace& place, Saved& saved) const {
  const Grads of = grads(saved);
  out_.weight_grad(matrix_in(saved.context, parts_.extent.rows, shard(1)), saved.grad_rows);
  const Tensor<T> x = all_rows(parts_, saved.x, parts_.work.gathered,
                               site_in(place, layer_, "attn.qkv.input", "backward"));
  q_.weight_grad(x, of.q);
  k_.weight_grad(x, of.k);
  v_.weight_grad(x, of.v);
}

template class AttentionLayer<double>;
template class AttentionLayer<float>;

}  // namespace meshparity
