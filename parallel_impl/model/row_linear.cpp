#include "parallel_impl/model/row_linear.hpp"

#include <utility>

#include "parallel_impl/model/planted_products.hpp"
#include "parallel_impl/model/stream.hpp"

namespace meshparity {

template <class T>
RowLinear<T>::RowLinear(RankParts<T>& parts, Param<T>& weight, Param<T>* bias, std::string role)
    : parts_(parts), weight_(weight), bias_(bias), role_(std::move(role)) {}

template <class T>
bool RowLinear<T>::adds_bias_everywhere(const BatchPlace& place) const {
  return bias_ != nullptr && role_ == "attn.out" &&
         parts_.faults.fires("rowbias_every_rank", {weight_.spec.layer, role_, "forward",
                                                    place.step, parts_.mesh.rank()});
}

template <class T>
void RowLinear<T>::add_bias(Tensor<T>& out) const {
  if (bias_ != nullptr) {
    parts_.backend.run(AddBias<T>{out.data, bias_->value, out.rows, out.columns});
  }
}

template <class T>
void RowLinear<T>::forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out) const {
  x.demand(shard(1));
  Tensor<T> share = before_sum(parts_, out);
  parts_.backend.run(product(x, weight_.value, share));
  const bool everywhere = adds_bias_everywhere(place);
  if (everywhere) {
    add_bias(share);
  }
  parts_.records.contribution(role_, weight_.spec.layer, share);
  sum_into_stream(parts_, share, out, forward_site(parts_, place, weight_.spec.layer, role_));
  if (!everywhere) {
    add_bias(out);
  }
}

template <class T>
Tensor<T> RowLinear<T>::all_rows_of(const BatchPlace& place, const Tensor<T>& grad_out,
                                    Buffer<T>& kept) const {
  if (kept.count() > 0 && !parts_.extent.cuts_rows) {
    parts_.backend.run(Copy<T>{grad_out.data, kept.data(), grad_out.count()});
    return matrix_in(kept, grad_out.rows, rep());
  }
  return all_rows(parts_, grad_out, own_or(kept, parts_.work.gathered_grad),
                  site_in(place, weight_.spec.layer, role_, "backward"));
}

// Dropout's gradient is multiplied as it was made.
template <class T>
GradForm RowLinear<T>::grads() const {
  return parts_.words.drops() ? GradForm::wide : GradForm::rounded;
}

template <class T>
void RowLinear<T>::input_grad(const Tensor<T>& grad_out, Tensor<T>& grad_x) const {
  grad_out.demand(rep());
  parts_.backend.run(of_grad(product_with_transposed(grad_out, weight_.value, grad_x), grads()));
  grad_x.tp = shard(1);
}

template <class T>
void RowLinear<T>::weight_grad(const Tensor<T>& x, const Tensor<T>& grad_out) const {
  x.demand(shard(1));
  grad_out.demand(rep());
  if (adds_onto_running_sum(parts_, weight_)) {
    add_row_by_row(parts_, weight_, x, grad_out, grads());
    return;
  }
  T* const sum = parts_.work.param_grad.data();
  parts_.backend.run(of_grad(transposed_product(x, grad_out, sum), grads()));
  add_param_grad(parts_, weight_);
}

template <class T>
void RowLinear<T>::bias_grad(const Tensor<T>& grad_out) const {
  grad_out.demand(parts_.stream());
  if (bias_ != nullptr) {
    parts_.backend.run(
        ColumnSum<T>{grad_out.data, parts_.work.param_grad.data(), grad_out.rows, bias_->count()});
    add_param_grad(parts_, *bias_);
  }
}

template class RowLinear<double>;
template class RowLinear<float>;

}  // namespace meshparity
