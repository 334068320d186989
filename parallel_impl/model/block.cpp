#include "parallel_impl/model/block.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

template <class T>
Param<T>& of_layer(Parameters<T>& params, int layer, const char* name) {
  return params.at(fmt::format("layer{}.{}", layer, name));
}

template <class T>
Param<T>* find(Parameters<T>& params, int layer, const char* name) {
  return params.find(fmt::format("layer{}.{}", layer, name));
}

}  // namespace

template <class T>
Block<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags)
    : norm1(parts, tags),
      norm2(parts, tags),
      attention(parts, tags),
      mlp(parts, tags),
      normed1(parts.backend, tags.until_weight_grad, parts.stream_count()),
      residual(parts.backend, tags.until_input_grad, normed1.count()),
      normed2(parts.backend, tags.until_weight_grad, normed1.count()),
      out(parts.backend, tags.until_input_grad, normed1.count()),
      words1(parts.words.buffer(parts.backend, tags.until_input_grad, normed1.count())),
      words2(parts.words.buffer(parts.backend, tags.until_input_grad, normed1.count())) {}

template <class T>
void Block<T>::Saved::release_for_weights() {
  for (Buffer<T>* buffer :
       {&norm1.mean, &norm1.inverse, &norm2.mean, &norm2.inverse, &residual, &out}) {
    buffer->reset();
  }
  words1.reset();
  words2.reset();
  attention.release_for_weights();
  mlp.release_for_weights();
}

template <class T>
Block<T>::Block(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation, int layer)
    : parts_(parts),
      layer_(layer),
      norm1_(parts, of_layer(params, layer, "norm1.weight"), find(params, layer, "norm1.bias")),
      norm2_(parts, of_layer(params, layer, "norm2.weight"), find(params, layer, "norm2.bias")),
      attention_(parts, params, rotation, layer),
      mlp_(parts, params, layer) {}

template <class T>
std::string Block<T>::name(const char* record) const {
  return fmt::format("layer{}.{}", layer_, record);
}

template <class T>
Tensor<T> Block<T>::forward(const BatchPlace& place, const Tensor<T>& x, Saved& saved) {
  parts_.beat();
  parts_.records.features(Phase::forward, name("in"), x);
  return mlp_half(place, attention_half(place, x, saved), saved);
}

template <class T>
Tensor<T> Block<T>::attention_half(const BatchPlace& place, const Tensor<T>& x, Saved& saved) {
  Tensor<T> normed = matrix_in(saved.normed1, x.rows, parts_.stream());
  Tensor<T> branch = matrix_in(parts_.work.branch, x.rows, part());
  Tensor<T> out = matrix_in(saved.residual, x.rows, parts_.stream());
  norm1_.forward(x, normed, saved.norm1);
  parts_.pass_on(normed);
  parts_.records.features(Phase::forward, name("norm1"), normed);
  attention_.forward(place, normed, branch, saved.attention);
  parts_.words.fill_hidden(WordOp::attention_residual_dropout, layer_, place, parts_.extent.stream,
                           saved.words1);
  branch.demand(parts_.stream());
  parts_.backend.run(ResidualDropout<T>{x.data, branch.data, saved.words1.get(), out.data,
                                        out.count(), parts_.words.template rule<T>()});
  parts_.pass_on(out);
  parts_.records.features(Phase::forward, name("attn.residual"), out);
  return out;
}

template <class T>
Tensor<T> Block<T>::mlp_half(const BatchPlace& place, const Tensor<T>& x, Saved& saved) {
  Tensor<T> normed = matrix_in(saved.normed2, x.rows, parts_.stream());
  Tensor<T> branch = matrix_in(parts_.work.branch, x.rows, part());
  Tensor<T> out = matrix_in(saved.out, x.rows, parts_.stream());
  norm2_.forward(x, normed, saved.norm2);
  parts_.pass_on(normed);
  parts_.records.features(Phase::forward, name("norm2"), normed);
  mlp_.forward(place, normed, branch, saved.mlp);
  parts_.words.fill_hidden(WordOp::mlp_residual_dropout, layer_, place, parts_.extent.stream,
                           saved.words2);
  branch.demand(parts_.stream());
  parts_.backend.run(ResidualDropout<T>{x.data, branch.data, saved.words2.get(), out.data,
                                        out.count(), parts_.words.template rule<T>()});
  parts_.pass_on(out);
  parts_.records.features(Phase::forward, name("out"), out);
  return out;
}

template <class T>
void Block<T>::backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved) {
  parts_.beat();
  grad.demand(parts_.stream());
  parts_.records.features(Phase::backward, name("out"), grad);
  mlp_half_backward(place, grad, saved);
  parts_.records.features(Phase::backward, name("attn.residual"), grad);
  attention_half_backward(place, grad, saved);
  parts_.records.features(Phase::backward, name("in"), grad);
}

template <class T>
void Block<T>::mlp_half_backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved) {
  const Tensor<T> branch = matrix_in(parts_.work.branch, grad.rows, parts_.stream());
  Tensor<T> back = matrix_in(parts_.work.back, grad.rows, part());
  parts_.backend.run(Dropout<T>{grad.data, saved.words2.get(), branch.data, branch.count(),
                                parts_.words.template rule<T>()});
  parts_.records.features(Phase::backward, name("mlp.out"), branch);
  mlp_.backward(place, branch, back, saved.mlp);
  parts_.pass_on(back);
  parts_.records.features(Phase::backward, name("norm2"), back);
  norm2_.backward(back, saved.norm2);
  parts_.backend.run(AddInto<T>{back.data, grad.data, grad.count()});
  parts_.pass_on(grad);
}

template <class T>
void Block<T>::attention_half_backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved) {
  const Tensor<T> branch = matrix_in(parts_.work.branch, grad.rows, parts_.stream());
  Tensor<T> back = matrix_in(parts_.work.back, grad.rows, part());
  parts_.backend.run(Dropout<T>{grad.data, saved.words1.get(), branch.data, branch.count(),
                                parts_.words.template rule<T>()});
  parts_.records.features(Phase::backward, name("attn.out"), branch);
  attention_.backward(place, branch, back, saved.attention);
  parts_.pass_on(back);
  parts_.records.features(Phase::backward, name("norm1"), back);
  norm1_.backward(back, saved.norm1);
  parts_.backend.run(AddInto<T>{back.data, grad.data, grad.count()});
  parts_.pass_on(grad);
}

template <class T>
void Block<T>::weight_backward(const BatchPlace& place, Saved& saved) {
  mlp_.weight_backward(place, saved.mlp);
  attention_.weight_backward(place, saved.attention);
}

template class Block<double>;
template class Block<float>;

}  // namespace meshparity
