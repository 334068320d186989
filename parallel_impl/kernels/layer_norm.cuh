// LayerNorm of rows: y = weight * (x - mean) / sigma + bias, sigma^2 = mean((x - mean)^2) +
// epsilon.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

template <class T>
struct LayerNormForward {
  const T* x;        // [rows, width]
  const T* weight;   // [width]
  const T* bias;     // [width]; null: none
  T* out;            // [rows, width]
  T* mean;           // [rows], for the backward pass
  T* inverse_sigma;  // [rows]
  int rows;
  int width;
  T epsilon;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* in = x + row * width;
    T total = 0;
    for_lanes(group, width, [&](int i) { total += in[i]; });
    const T center = group.sum(total) / static_cast<T>(width);
    T squares = 0;
    for_lanes(group, width, [&](int i) { squares += (in[i] - center) * (in[i] - center); });
    const T inverse = T(1) / std::sqrt(group.sum(squares) / static_cast<T>(width) + epsilon);
    for_lanes(group, width, [&](int i) {
      const T scaled = weight[i] * ((in[i] - center) * inverse);
      out[row * width + i] = bias == nullptr ? scaled : scaled + bias[i];
    });
    if (group.lane() == 0) {
      mean[row] = center;
      inverse_sigma[row] = inverse;
    }
  }
};

/// q = weight * dy, n = (x - mean) / sigma: dx = (q - mean(q) - n * mean(q * n)) / sigma.
template <class T>
struct LayerNormBackward {
  const T* x;
  const T* weight;
  const T* mean;
  const T* inverse_sigma;
  const T* grad_out;  // [rows, width]
  T* grad_in;         // [rows, width]
  int rows;
  int width;

  int groups() const { return rows; }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int row) const {
    const T* in = x + row * width;
    const T* dy = grad_out + row * width;
    const T center = mean[row];
    const T inverse = inverse_sigma[row];
    T plain = 0;
    T along = 0;
    for_lanes(group, width, [&](int i) {
      plain += weight[i] * dy[i];
      along += weight[i] * dy[i] * ((in[i] - center) * inverse);
    });
    const T mean_plain = group.sum(plain) / static_cast<T>(width);
    const T mean_along = group.sum(along) / static_cast<T>(width);
    for_lanes(group, width, [&](int i) {
      const T normal = (in[i] - center) * inverse;
      grad_in[row * width + i] = (weight[i] * dy[i] - mean_plain - normal * mean_along) * inverse;
    });
  }
};

/// grad_weight = sum over rows of dy * n, grad_bias = sum of dy: rows ascending, from zero. One
/// index a block of columns, each column on one lane.
template <class T>
struct LayerNormParameterGrad {
  const T* x;
  const T* mean;
  const T* inverse_sigma;
  const T* grad_out;
  T* grad_weight;  // [width]
  T* grad_bias;    // [width]; null: none
  int rows;
  int width;

  int groups() const { return chunks_of(width); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int block) const {
    for_chunk(group, block, width, [&](int i) {
      grad_weight[i] = 0;
      if (grad_bias != nullptr) {
        grad_bias[i] = 0;
      }
    });
    for (int row = 0; row < rows; ++row) {
      const T center = mean[row];
      const T inverse = inverse_sigma[row];
      for_chunk(group, block, width, [&](int i) {
        const T dy = grad_out[row * width + i];
        grad_weight[i] += dy * ((x[row * width + i] - center) * inverse);
        if (grad_bias != nullptr) {
          grad_bias[i] += dy;
        }
      });
    }
  }
};

}  // namespace meshparity
