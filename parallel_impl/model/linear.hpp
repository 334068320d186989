// The products of a linear layer Y = X W on what one rank holds; W is [in, out]. No communication:
// column_linear.hpp and row_linear.hpp say what state the results are in.
#pragma once
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/model/placement.hpp"

namespace meshparity {

/// Whether the gradient that a linear layer multiplies was rounded where it was made, in a
/// precision that rounds there (bounds.md §3.1), or comes straight out of the operation between.
enum class GradForm { rounded, wide };

template <class T>
Matmul<T> of_grad(Matmul<T> product, GradForm form) {
  product.is_wide = form == GradForm::wide;
  return product;
}

/// Row-major operands, x [m, k].
template <class T>
Matmul<T> product(const Tensor<T>& x, const T* w, Tensor<T>& out) {
  return {x.data, x.columns, 1, w, out.columns, 1, out.data, x.rows, out.columns, x.columns};
}
/// out = x w^T, w is [out.columns, x.columns]
template <class T>
Matmul<T> product_with_transposed(const Tensor<T>& x, const T* w, Tensor<T>& out) {
  return {x.data, x.columns, 1, w, 1, x.columns, out.data, x.rows, out.columns, x.columns};
}
/// out = x^T y, a sum over rows ascending; out is [x.columns, y.columns].
template <class T>
Matmul<T> transposed_product(const Tensor<T>& x, const Tensor<T>& y, T* out) {
  return {x.data, 1, x.columns, y.data, y.columns, 1, out, x.columns, y.columns, x.rows};
}

}  // namespace meshparity
