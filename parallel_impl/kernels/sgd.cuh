// Stochastic gradient descent, without and with momentum.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

/// theta -= learning_rate * (clip * grad)
template <class T>
struct Sgd {
  T* theta;
  const T* grad;
  int count;
  double clip;
  T learning_rate;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count,
              [&](int i) { update(i, static_cast<T>(clip * static_cast<double>(grad[i]))); });
  }

  /// From the clipped gradient `g` of element i.
  MESHPARITY_HD void update(int i, T g) const { theta[i] = theta[i] - learning_rate * g; }
};

/// m = mu * m + clip * grad; theta -= learning_rate * m
template <class T>
struct Momentum {
  T* theta;
  const T* grad;
  T* moment;
  int count;
  double clip;
  T learning_rate;
  T mu;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count,
              [&](int i) { update(i, static_cast<T>(clip * static_cast<double>(grad[i]))); });
  }

  MESHPARITY_HD void update(int i, T g) const {
    const T m = mu * moment[i] + g;
    moment[i] = m;
    theta[i] = theta[i] - learning_rate * m;
  }
};

}  // namespace meshparity
