#include "parallel_impl/model/mlp.hpp"

#include <fmt/format.h>

#include "parallel_impl/model/stream.hpp"

namespace meshparity {
namespace {

template <class T>
Param<T>& of_layer(Parameters<T>& params, int layer, const char* name) {
  return params.at(fmt::format("layer{}.mlp.{}", layer, name));
}

template <class T>
Param<T>* find(Parameters<T>& params, int layer, const char* name) {
  return params.find(fmt::format("layer{}.mlp.{}", layer, name));
}

}  // namespace

template <class T>
MlpLayer<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags)
    : up(parts.backend, tags.until_input_grad, parts.extent.rows * parts.extent.ffn),
      act(parts.backend, tags.until_weight_grad, up.count()),
      gate(parts.backend, tags.until_input_grad,
           parts.model.activation == Activation::swiglu ? up.count() : 0) {}

template <class T>
void MlpLayer<T>::Saved::keep_grads(const RankParts<T>& parts) {
  constexpr MemoryTag kTag = MemoryTag::activation_W;
  grad_up = Buffer<T>(parts.backend, kTag, up.count());
  grad_gate = Buffer<T>(parts.backend, kTag, gate.count());
  kept_rows = Buffer<T>(parts.backend, kTag,
                        static_cast<std::int64_t>(parts.extent.rows) * parts.model.hidden);
}

template <class T>
void MlpLayer<T>::Saved::release_for_weights() {
  up.reset();
  gate.reset();
}

template <class T>
MlpLayer<T>::MlpLayer(RankParts<T>& parts, Parameters<T>& params, int layer)
    : parts_(parts),
      layer_(layer),
      up_(parts, of_layer(params, layer, "up.weight"), find(params, layer, "up.bias"),
          GradForm::wide),
      down_(parts, of_layer(params, layer, "down.weight"), find(params, layer, "down.bias"),
            "mlp.down") {
  if (parts.model.activation == Activation::swiglu) {
    gate_.emplace(parts, of_layer(params, layer, "gate.weight"), find(params, layer, "gate.bias"),
                  GradForm::wide);
  }
}

template <class T>
std::string MlpLayer<T>::name(const char* record) const {
  return fmt::format("layer{}.mlp.{}", layer_, record);
}

template <class T>
void MlpLayer<T>::forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out,
                          Saved& saved) const {
  saved.x = x;
  activate(all_rows(parts_, x, parts_.work.gathered, forward_site(parts_, place, layer_, "mlp.up")),
           saved);
  down_.forward(place, matrix_in(saved.act, parts_.extent.rows, shard(1)), out);
  parts_.records.features(Phase::forward, name("out"), out);
}

template <class T>
void MlpLayer<T>::activate(const Tensor<T>& x, Saved& saved) const {
  Tensor<T> up = matrix_in(saved.up, x.rows, shard(1));
  const Tensor<T> act = matrix_in(saved.act, x.rows, shard(1));
  if (gate_) {
    Tensor<T> gate = matrix_in(saved.gate, x.rows, shard(1));
    gate_->forward(x, gate);
    up_.forward(x, up);
    parts_.records.features(Phase::forward, name("gate"), gate);
    parts_.backend.run(SwigluForward<T>{gate.data, up.data, act.data, act.count()});
  } else {
    up_.forward(x, up);
    parts_.backend.run(GeluForward<T>{up.data, act.data, act.count()});
  }
  parts_.records.features(Phase::forward, name("up"), up);
  parts_.pass_on(act);
  parts_.records.features(Phase::forward, name("act"), act);
}

template <class T>
Tensor<T> MlpLayer<T>::grad_up(Saved& saved) const {
  return matrix_in(own_or(saved.grad_up, parts_.work.grad_ffn), parts_.extent.rows, shard(1));
}

template <class T>
Tensor<T> MlpLayer<T>::grad_gate(Saved& saved) const {
  return matrix_in(own_or(saved.grad_gate, parts_.work.grad_gate), parts_.extent.rows, shard(1));
}

template <class T>
void MlpLayer<T>::backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                           Saved& saved) const {
  if (parts_.splits_backward) {
    saved.keep_grads(parts_);
  }
  Tensor<T> grad = grad_up(saved);
  down_.bias_grad(grad_out);
  saved.grad_rows = down_.all_rows_of(place, grad_out, saved.kept_rows);
  down_.input_grad(saved.grad_rows, grad);
  parts_.pass_on(grad);
  parts_.records.features(Phase::backward, name("act"), grad);
  activate_backward(saved);
  if (!parts_.splits_backward) {
    weight_backward(place, saved);
  }
  inputs_backward(place, grad_x, saved);
}

/// The gradient of `act` becomes that of `up` in place; that of `gate` goes to its own.
template <class T>
void MlpLayer<T>::activate_backward(Saved& saved) const {
  const Tensor<T> grad = grad_up(saved);
  if (!gate_) {
    parts_.backend.run(GeluBackward<T>{saved.up.data(), grad.data, grad.data, grad.count()});
    parts_.records.features(Phase::backward, name("up"), grad);
    return;
  }
  const Tensor<T> of_gate = grad_gate(saved);
  parts_.backend.run(SwigluBackward<T>{saved.gate.data(), saved.up.data(), grad.data, of_gate.data,
                                       grad.data, grad.count()});
  parts_.records.features(Phase::backward, name("up"), grad);
  parts_.records.features(Phase::backward, name("gate"), of_gate);
}

template <class T>
void MlpLayer<T>::inputs_backward(const BatchPlace& place, Tensor<T>& grad_x, Saved& saved) const {
  Tensor<T> share = before_sum(parts_, grad_x);
  up_.input_grad(grad_up(saved), share);
  if (gate_) {
    Tensor<T> sibling = matrix_in(parts_.work.partial, parts_.extent.rows, part());
    gate_->input_grad(grad_gate(saved), sibling);
    parts_.backend.run(AddInto<T>{sibling.data, share.data, share.count()});
  }
  sum_into_stream(parts_, share, grad_x, site_in(place, layer_, "mlp.up", "backward"));
}

template <class T>
void MlpLayer<T>::weight_backward(const BatchPlace& place, Saved& saved) const {
  down_.weight_grad(matrix_in(saved.act, parts_.extent.rows, shard(1)), saved.grad_rows);
  const Tensor<T> x = all_rows(parts_, saved.x, parts_.work.gathered,
                               site_in(place, layer_, "mlp.up.input", "backward"));
  up_.weight_grad(x, grad_up(saved));
  if (gate_) {
    gate_->weight_grad(x, grad_gate(saved));
  }
}

template class MlpLayer<double>;
template class MlpLayer<float>;

}  // namespace meshparity
