// Token and position embeddings. A rank owns the rows [first, first + owned) of the token table.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// out[row] = table[tokens[row] - first] where the token is owned, else zeros.
template <class T>
struct EmbeddingGather {
  const T* table;     // [owned, width]
  const int* tokens;  // [rows]
  T* out;             // [rows, width]
  int rows;
  int width;
  int first;
  int owned;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const int local = tokens[row] - first;
    const bool mine = local >= 0 && local < owned;
    for_lanes(group, width,
              [&](int i) { out[row * width + i] = mine ? table[local * width + i] : T(0); });
  }
};

/// grad_table[tokens[row] - first] += grad[row], rows ascending, for owned tokens only. The caller
/// clears grad_table. One index a block of columns, each column on one lane.
template <class T>
struct EmbeddingScatter {
  const T* grad;  // [rows, width]
  const int* tokens;
  T* grad_table;  // [owned, width]
  int rows;
  int width;
  int first;
  int owned;

  int groups() const { return chunks_of(width); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int block) const {
    for (int row = 0; row < rows; ++row) {
      const int local = tokens[row] - first;
      if (local < 0 || local >= owned) {
        continue;
      }
      for_chunk(group, block, width, [&](int i) {
        T& sum = grad_table[local * width + i];
        sum = sum + grad[row * width + i];
      });
    }
  }
};

/// x[row] += table[(first + row) mod sequence]
template <class T>
struct AddPositions {
  T* x;            // [rows, width]
  const T* table;  // [sequence, width]
  int rows;
  int width;
  int sequence;
  int first;  // place of row 0 in the micro-batch

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* position = table + ((first + row) % sequence) * width;
    for_lanes(group, width, [&](int i) { x[row * width + i] += position[i]; });
  }
};

/// grad_table[p] = sum over samples ascending of grad[sample * sequence + p], from zero.
template <class T>
struct PositionGrad {
  const T* grad;  // [rows, width]
  T* grad_table;  // [sequence, width]
  int rows;
  int width;
  int sequence;

  int groups() const { return sequence; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int position) const {
    for_lanes(group, width, [&](int i) {
      T sum = 0;
      for (int row = position; row < rows; row += sequence) {
        sum = sum + grad[row * width + i];
      }
      grad_table[position * width + i] = sum;
    });
  }
};

}  // namespace meshparity
