// AdamW, form A of algorithms.md §8.7: decay first, then the step; bias corrections on m and v.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

template <class T>
struct AdamW {
  T* theta;
  const T* grad;
  T* moment1;
  T* moment2;
  int count;
  bool decays;
  double clip;  // gradients are multiplied by it first
  T learning_rate;
  T beta1;
  T beta2;
  T epsilon;
  T weight_decay;
  T correction1;  // 1 - beta1^t
  T correction2;  // 1 - beta2^t

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count,
              [&](int i) { update(i, static_cast<T>(clip * static_cast<double>(grad[i]))); });
  }

  /// From the clipped gradient `g` of element i.
  MESHPARITY_HD void update(int i, T g) const {
    const T m = beta1 * moment1[i] + (T(1) - beta1) * g;
    const T v = beta2 * moment2[i] + (T(1) - beta2) * (g * g);
    moment1[i] = m;
    moment2[i] = v;
    const T decayed = decays ? theta[i] - learning_rate * weight_decay * theta[i] : theta[i];
    theta[i] = decayed - learning_rate * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
  }
};

}  // namespace meshparity
