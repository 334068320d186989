// Sums over rows, in row order: the gradient of a bias.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// out[i] = sum over rows ascending of x[row, i], from zero. One index a block of columns, each
/// column on one lane.
template <class T>
struct ColumnSum {
  const T* x;  // [rows, width]
  T* out;      // [width]
  int rows;
  int width;

  int groups() const { return chunks_of(width); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int block) const {
    for_chunk(group, block, width, [&](int i) { out[i] = 0; });
    for (int row = 0; row < rows; ++row) {
      for_chunk(group, block, width, [&](int i) { out[i] = out[i] + x[row * width + i]; });
    }
  }
};

}  // namespace meshparity
