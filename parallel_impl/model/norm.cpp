#include "parallel_impl/model/norm.hpp"

namespace meshparity {

template <class T>
NormLayer<T>::Saved::Saved(const LocalExtent& extent, Memory& memory)
    : mean(memory, MemoryTag::activation_B, extent.rows),
      inverse_sigma(memory, MemoryTag::activation_B, extent.rows) {}

template <class T>
NormLayer<T>::NormLayer(RankParts<T>& parts, Param<T>& weight, Param<T>& bias)
    : parts_(parts),
      weight_(weight),
      bias_(bias),
      bias_grad_(parts.backend, MemoryTag::buffer, bias.count()) {}

template <class T>
void NormLayer<T>::forward(const Tensor<T>& x, Tensor<T>& out, Saved& saved) const {
  x.demand(rep());
  saved.x = x;
  parts_.backend.run(LayerNormForward<T>{x.data, weight_.value, bias_.value, out.data,
                                         saved.mean.data(), saved.inverse_sigma.data(), x.rows,
                                         x.columns, static_cast<T>(parts_.model.norm_epsilon)});
  out.tp = rep();
}

template <class T>
void NormLayer<T>::backward(Tensor<T>& grad, const Saved& saved) {
  grad.demand(rep());
  parts_.backend.run(LayerNormParameterGrad<T>{
      saved.x.data, saved.mean.data(), saved.inverse_sigma.data(), grad.data,
      parts_.work.param_grad.data(), bias_grad_.data(), grad.rows, grad.columns});
  add_param_grad(parts_, weight_);
  parts_.backend.run(AddInto<T>{bias_grad_.data(), bias_.grad.data(), bias_.count()});
  parts_.backend.run(LayerNormBackward<T>{saved.x.data, weight_.value, saved.mean.data(),
                                          saved.inverse_sigma.data(), grad.data, grad.data,
                                          grad.rows, grad.columns});
}

template class NormLayer<double>;
template class NormLayer<float>;

}  // namespace meshparity
