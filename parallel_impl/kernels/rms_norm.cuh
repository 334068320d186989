// RMSNorm of rows: y = weight * x / rms, rms^2 = mean(x^2) + epsilon. A row is a token of the
// stream, or a query or key head of a token.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

template <class T>
struct RmsNormForward {
  const T* x;       // [rows, width]
  const T* weight;  // [width]
  T* out;           // [rows, width]
  T* inverse_rms;   // [rows], for the backward pass
  int rows;
  int width;
  T epsilon;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* in = x + row * width;
    T squares = 0;
    for_lanes(group, width, [&](int i) { squares += in[i] * in[i]; });
    const T inverse = T(1) / std::sqrt(group.sum(squares) / static_cast<T>(width) + epsilon);
    for_lanes(group, width, [&](int i) { out[row * width + i] = weight[i] * (in[i] * inverse); });
    if (group.lane() == 0) {
      inverse_rms[row] = inverse;
    }
  }
};

/// q = weight * dy, n = x / rms: dx = (q - n * mean(q * n)) / rms. May be in place.
template <class T>
struct RmsNormBackward {
  const T* x;
  const T* weight;
  const T* inverse_rms;
  const T* grad_out;  // [rows, width]
  T* grad_in;         // [rows, width]
  int rows;
  int width;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* in = x + row * width;
    const T* dy = grad_out + row * width;
    const T inverse = inverse_rms[row];
    T along = 0;
    for_lanes(group, width, [&](int i) { along += weight[i] * dy[i] * (in[i] * inverse); });
    const T mean_along = group.sum(along) / static_cast<T>(width);
    for_lanes(group, width, [&](int i) {
      grad_in[row * width + i] = (weight[i] * dy[i] - in[i] * inverse * mean_along) * inverse;
    });
  }
};

/// grad_weight = sum over rows of dy * n: rows ascending, from zero. One index a block of columns,
/// each column on one lane.
template <class T>
struct RmsNormParameterGrad {
  const T* x;
  const T* inverse_rms;
  const T* grad_out;
  T* grad_weight;  // [width]
  int rows;
  int width;

  int groups() const { return chunks_of(width); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int block) const {
    for_chunk(group, block, width, [&](int i) { grad_weight[i] = 0; });
    for (int row = 0; row < rows; ++row) {
      for_chunk(group, block, width, [&](int i) {
        const int at = row * width + i;
        grad_weight[i] += grad_out[at] * (x[at] * inverse_rms[row]);
      });
    }
  }
};

}  // namespace meshparity
