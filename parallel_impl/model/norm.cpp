#include "parallel_impl/model/norm.hpp"

#include <algorithm>
#include <vector>

namespace meshparity {

template <class T>
NormLayer<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags)
    : mean(parts.backend, tags.until_input_grad,
           parts.model.norm == Norm::layernorm ? parts.extent.stream.count : 0),
      inverse(parts.backend, tags.until_input_grad, parts.extent.stream.count) {}

template <class T>
NormLayer<T>::NormLayer(RankParts<T>& parts, Param<T>& weight, Param<T>* bias)
    : parts_(parts), weight_(weight), bias_(bias) {
  if (bias != nullptr) {
    bias_grad_ = Buffer<T>(parts.backend, MemoryTag::buffer, bias->count());
  }
}

template <class T>
void NormLayer<T>::forward(const Tensor<T>& x, Tensor<T>& out, Saved& saved) const {
  x.demand(parts_.stream());
  saved.x = x;
  const T epsilon = static_cast<T>(parts_.model.norm_epsilon);
  if (is_rms()) {
    parts_.backend.run(RmsNormForward<T>{x.data, weight_.value, out.data, saved.inverse.data(),
                                         x.rows, width(), epsilon});
  } else {
    parts_.backend.run(LayerNormForward<T>{
        x.data, weight_.value, bias_ == nullptr ? nullptr : bias_->value, out.data,
        saved.mean.data(), saved.inverse.data(), x.rows, width(), epsilon});
  }
  if (parts_.faults.fires("norm_statistics_in_float", weight_.spec.layer)) {
    round_statistics(saved);
  }
  out.tp = parts_.stream();
}

/// A planted fault: what the backward pass is left with was kept in float32.
template <class T>
void NormLayer<T>::round_statistics(Saved& saved) const {
  for (Buffer<T>* numbers : {&saved.mean, &saved.inverse}) {
    std::vector<T> held(static_cast<std::size_t>(numbers->count()));
    parts_.backend.download(numbers->data(), held.data(), held.size() * sizeof(T));
    std::transform(held.begin(), held.end(), held.begin(),
                   [](T value) { return static_cast<T>(static_cast<float>(value)); });
    numbers->upload(held);
  }
}

template <class T>
void NormLayer<T>::backward(Tensor<T>& grad, const Saved& saved) {
  grad.demand(parts_.stream());
  if (is_rms()) {
    rms_norm_backward(grad, saved);
  } else {
    layer_norm_backward(grad, saved);
  }
}

template <class T>
void NormLayer<T>::layer_norm_backward(Tensor<T>& grad, const Saved& saved) {
  parts_.backend.run(LayerNormParameterGrad<T>{
      saved.x.data, saved.mean.data(), saved.inverse.data(), grad.data,
      parts_.work.param_grad.data(), bias_grad_.data(), grad.rows, width()});
  add_param_grad(parts_, weight_);
  if (bias_ != nullptr) {
    add_param_grad<T>(parts_, *bias_, bias_grad_.data());
  }
  parts_.backend.run(LayerNormBackward<T>{saved.x.data, weight_.value, saved.mean.data(),
                                          saved.inverse.data(), grad.data, grad.data, grad.rows,
                                          width()});
}

template <class T>
void NormLayer<T>::rms_norm_backward(Tensor<T>& grad, const Saved& saved) {
  parts_.backend.run(RmsNormParameterGrad<T>{saved.x.data, saved.inverse.data(), grad.data,
                                             parts_.work.param_grad.data(), grad.rows, width()});
  add_param_grad(parts_, weight_);
  parts_.backend.run(RmsNormBackward<T>{saved.x.data, weight_.value, saved.inverse.data(),
                                        grad.data, grad.data, grad.rows, width()});
}

template class NormLayer<double>;
template class NormLayer<float>;

}  // namespace meshparity
