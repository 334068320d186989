#include "parallel_impl/model/head_transform.hpp"

#include <cmath>
#include <vector>

namespace meshparity {

template <class T>
Rotation<T>::Rotation(const ModelSpec& model, Memory& memory) {
  if (model.positions != Positions::rope) {
    return;
  }
  std::vector<T> cosine, sine;
  for (int p = 0; p < model.sequence; ++p) {
    for (int i = 0; i < model.head_dim / 2; ++i) {
      const double speed = std::pow(model.rope_base, -2.0 * i / model.head_dim);
      const double angle = (model.position_offset + p) * speed;
      cosine.push_back(static_cast<T>(std::cos(angle)));
      sine.push_back(static_cast<T>(std::sin(angle)));
    }
  }
  cosines = Buffer<T>(memory, MemoryTag::buffer, std::ssize(cosine));
  sines = Buffer<T>(memory, MemoryTag::buffer, std::ssize(sine));
  cosines.upload(cosine);
  sines.upload(sine);
}

template <class T>
HeadTransform<T>::Saved::Saved(const RankParts<T>& parts, SavedTags tags, int heads)
    : projected(parts.backend, tags.until_input_grad,
                parts.model.qk_norm ? parts.extent.rows * heads * parts.model.head_dim : 0),
      inverse(parts.backend, tags.until_input_grad,
              parts.model.qk_norm ? parts.extent.rows * heads : 0) {}

template <class T>
HeadTransform<T>::HeadTransform(RankParts<T>& parts, Param<T>* norm_weight,
                                const Rotation<T>& rotation)
    : parts_(parts), norm_weight_(norm_weight), rotation_(rotation) {}

template <class T>
void HeadTransform<T>::forward(Tensor<T>& heads, Saved& saved) const {
  heads.demand(shard(1));
  if (norm_weight_ != nullptr) {
    parts_.backend.run(Copy<T>{heads.data, saved.projected.data(), heads.count()});
    parts_.backend.run(
        RmsNormForward<T>{saved.projected.data(), norm_weight_->value, heads.data,
                          saved.inverse.data(), static_cast<int>(saved.inverse.count()),
                          parts_.model.head_dim, static_cast<T>(parts_.model.norm_epsilon)});
  }
  turn(heads, T(1));
}

template <class T>
void HeadTransform<T>::turn(Tensor<T>& heads, T direction) const {
  if (rotation_.cosines.count() > 0) {
    const int head_dim = parts_.model.head_dim;
    parts_.backend.run(RotaryTurn<T>{heads.data, rotation_.cosines.data(), rotation_.sines.data(),
                                     heads.rows, heads.columns / head_dim, head_dim,
                                     parts_.model.sequence, direction});
  }
}

template <class T>
void HeadTransform<T>::backward(Tensor<T>& grad, const Saved& saved) const {
  turn(grad, T(-1));
  if (norm_weight_ == nullptr) {
    return;
  }
  const int rows = static_cast<int>(saved.inverse.count());
  const int width = parts_.model.head_dim;
  parts_.backend.run(RmsNormParameterGrad<T>{saved.projected.data(), saved.inverse.data(),
                                             grad.data, parts_.work.param_grad.data(), rows,
                                             width});
  add_param_grad(parts_, *norm_weight_);
  parts_.backend.run(RmsNormBackward<T>{saved.projected.data(), norm_weight_->value,
                                        saved.inverse.data(), grad.data, grad.data, rows, width});
}

template struct Rotation<double>;
template struct Rotation<float>;
template class HeadTransform<double>;
template class HeadTransform<float>;

}  // namespace meshparity
