// SwiGLU: y = silu(gate) * up, silu(x) = x * s(x), s(x) = 1 / (1 + exp(-x)).
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

template <class T>
MESHPARITY_HD T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

template <class T>
struct SwigluForward {
  const T* gate;
  const T* up;
  T* out;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { out[i] = gate[i] * logistic(gate[i]) * up[i]; });
  }
};

/// d up = dy * silu(gate), d gate = dy * up * s * (1 + gate * (1 - s)). `grad_out` may be one of
/// the two results.
template <class T>
struct SwigluBackward {
  const T* gate;
  const T* up;
  const T* grad_out;
  T* grad_gate;
  T* grad_up;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) {
      const T dy = grad_out[i];
      const T s = logistic(gate[i]);
      grad_gate[i] = dy * up[i] * (s * (T(1) + gate[i] * (T(1) - s)));
      grad_up[i] = dy * (gate[i] * s);
    });
  }
};

}  // namespace meshparity
