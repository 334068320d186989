// Updates of masters: parameters and moments in double, gradients and the copy that computes in T.
#pragma once
#include "parallel_impl/kernels/adamw.cuh"
#include "parallel_impl/kernels/sgd.cuh"

namespace meshparity {

/// One chunk of a rule in double; then copy = T(theta).
template <class Rule, class T, Group G>
MESHPARITY_HD void update_masters(const Rule& rule, const T* grad, T* copy, const G& group,
                                  int chunk) {
  for_chunk(group, chunk, rule.count, [&](int i) {
    rule.update(i, rule.clip * static_cast<double>(grad[i]));
    copy[i] = static_cast<T>(rule.theta[i]);
  });
}

/// AdamW in double; then copy = T(theta).
template <class T>
struct MasterAdamW {
  AdamW<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  T* copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

/// Gradient descent in double; then copy = T(theta).
template <class T>
struct MasterSgd {
  Sgd<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  T* copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

/// The same with momentum; then copy = T(theta).
template <class T>
struct MasterMomentum {
  Momentum<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  T* copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

}  // namespace meshparity
