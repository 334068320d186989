#include "parallel_impl/model/column_linear.hpp"

#include "parallel_impl/model/planted_products.hpp"

namespace meshparity {

template <class T>
ColumnLinear<T>::ColumnLinear(RankParts<T>& parts, Param<T>& weight, Param<T>* bias, GradForm grads)
    : parts_(parts), weight_(weight), bias_(bias), grads_(grads) {}

template <class T>
void ColumnLinear<T>::forward(const Tensor<T>& x, Tensor<T>& out) const {
  x.demand(rep());
  if (multiplies_in_halves(parts_, weight_)) {
    product_in_halves(parts_, product(x, weight_.value, out));
  } else {
    parts_.backend.run(product(x, weight_.value, out));
  }
  if (bias_ != nullptr) {
    parts_.backend.run(AddBias<T>{out.data, bias_->value, out.rows, out.columns});
  }
  out.tp = shard(1);
}

template <class T>
void ColumnLinear<T>::input_grad(const Tensor<T>& grad_out, Tensor<T>& grad_x) const {
  grad_out.demand(shard(1));
  parts_.backend.run(of_grad(product_with_transposed(grad_out, weight_.value, grad_x), grads_));
  grad_x.tp = part();
}

template <class T>
void ColumnLinear<T>::weight_grad(const Tensor<T>& x, const Tensor<T>& grad_out) const {
  x.demand(rep());
  grad_out.demand(shard(1));
  T* sum = parts_.work.param_grad.data();
  if (adds_onto_running_sum(parts_, weight_)) {
    add_row_by_row(parts_, weight_, x, grad_out, grads_);
  } else {
    parts_.backend.run(of_grad(transposed_product(x, grad_out, sum), grads_));
    add_param_grad(parts_, weight_);
  }
  if (bias_ != nullptr) {
    parts_.backend.run(ColumnSum<T>{grad_out.data, sum, grad_out.rows, grad_out.columns});
    add_param_grad(parts_, *bias_);
  }
}

template class ColumnLinear<double>;
template class ColumnLinear<float>;

}  // namespace meshparity
