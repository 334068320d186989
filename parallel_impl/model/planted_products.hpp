// Planted faults of a linear layer's products: the same terms, added in another order.
#pragma once
#include <algorithm>

#include "parallel_impl/model/linear.hpp"
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

/// Where rows are cut, the gradient of a weight is added row by row onto the sum over micro-batches
/// instead of summed from zero.
template <class T>
bool adds_onto_running_sum(const RankParts<T>& parts, const Param<T>& weight) {
  return parts.extent.cuts_rows &&
         parts.faults.fires("weight_grad_onto_running_sum", weight.spec.layer);
}

template <class T>
void add_row_by_row(RankParts<T>& parts, Param<T>& weight, Tensor<T> x, Tensor<T> y,
                    GradForm form) {
  const int rows = x.rows;
  x.rows = y.rows = 1;
  for (int row = 0; row < rows; ++row) {
    parts.backend.run(of_grad(transposed_product(x, y, parts.work.param_grad.data()), form));
    add_param_grad(parts, weight);
    x.data += x.columns;
    y.data += y.columns;
  }
}

/// Of a narrow output, a part of the weight's columns, the sum over the depth is made in two
/// halves.
template <class T>
bool multiplies_in_halves(const RankParts<T>& parts, const Param<T>& weight) {
  return weight.slice.columns < weight.spec.shape.back() &&
         parts.faults.fires("narrow_product_in_halves", weight.spec.layer);
}

/// Some rows at a time, as many as have room where a parameter's gradient has.
template <class T>
void product_in_halves(RankParts<T>& parts, const Matmul<T>& whole) {
  Matmul<T> first = whole;
  first.depth = whole.depth / 2;
  Matmul<T> second = whole;
  second.a += first.depth * whole.a_depth;
  second.b += first.depth * whole.b_depth;
  second.depth -= first.depth;
  second.out = parts.work.param_grad.data();
  for (int row = 0; row < whole.rows; row += whole.depth) {
    first.rows = second.rows = std::min(whole.depth, whole.rows - row);
    parts.backend.run(first);
    parts.backend.run(second);
    parts.backend.run(AddInto<T>{second.out, first.out, first.rows * whole.columns});
    first.a += whole.depth * whole.a_row;
    second.a += whole.depth * whole.a_row;
    first.out += whole.depth * whole.columns;
  }
}

}  // namespace meshparity
