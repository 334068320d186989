// GELU with the error function: y = x * Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

template <class T>
MESHPARITY_HD T normal_cdf(T x) {
  constexpr T kInverseRootTwo = static_cast<T>(0.70710678118654752440);
  return static_cast<T>(0.5) * (T(1) + std::erf(x * kInverseRootTwo));
}

template <class T>
struct GeluForward {
  const T* x;
  T* out;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { out[i] = x[i] * normal_cdf(x[i]); });
  }
};

/// dx = dy * (Phi(x) + x * phi(x)), phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
template <class T>
struct GeluBackward {
  const T* x;
  const T* grad_out;
  T* grad_in;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    constexpr T kInverseRootTwoPi = static_cast<T>(0.39894228040143267794);
    for_chunk(group, chunk, count, [&](int i) {
      const T density = std::exp(static_cast<T>(-0.5) * x[i] * x[i]) * kInverseRootTwoPi;
      grad_in[i] = grad_out[i] * (normal_cdf(x[i]) + x[i] * density);
    });
  }
};

}  // namespace meshparity
