// Elementwise sums, products and copies.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// x[row, i] += bias[i]
template <class T>
struct AddBias {
  T* x;           // [rows, width]
  const T* bias;  // [width]
  int rows;
  int width;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    for_lanes(group, width, [&](int i) { x[row * width + i] += bias[i]; });
  }
};

/// into = into + from
template <class T>
struct AddInto {
  const T* from;
  T* into;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = into[i] + from[i]; });
  }
};

/// into = into + from / divisor: a micro-batch's gradient into its accumulator. A divisor of 1
/// changes no bit.
template <class T>
struct AddQuotient {
  const T* from;
  T* into;
  int count;
  T divisor;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = into[i] + from[i] / divisor; });
  }
};

/// into = from
template <class T>
struct Copy {
  const T* from;
  T* into;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = from[i]; });
  }
};

/// x = x / divisor
template <class T>
struct Divide {
  T* x;
  int count;
  T divisor;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { x[i] = x[i] / divisor; });
  }
};

}  // namespace meshparity
