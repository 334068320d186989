// The product whose bits do not depend on how its output is cut: one accumulator an element, from
// +0, over k ascending, multiply and add rounded apart (algorithms.md §0.5).
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// out[i, j] = sum over k of a(i, k) * b(k, j). Strides make the transposed forms: a(i, k) is
/// a[i * a_row + k * a_depth], b(k, j) is b[k * b_depth + j * b_column].
template <class T>
struct Matmul {
  const T* a;
  int a_row;
  int a_depth;
  const T* b;
  int b_depth;
  int b_column;
  T* out;  // [rows, columns]
  int rows;
  int columns;
  int depth;
  /// In bfloat16's precision: an operand holds more than bfloat16 does, so that a product of
  /// numbers of that type is another one.
  bool is_wide = false;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    for_lanes(group, columns, [&](int column) {
      T sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum = sum + a[row * a_row + k * a_depth] * b[k * b_depth + column * b_column];
      }
      out[row * columns + column] = sum;
    });
  }
};

}  // namespace meshparity
