// Updates of masters: parameters and moments in double, gradients and the copy that computes in T.
#pragma once
#include "parallel_impl/kernels/adamw.cuh"
#include "parallel_impl/kernels/bfloat16.cuh"
#include "parallel_impl/kernels/sgd.cuh"

namespace meshparity {

/// What computes beside masters in double: their values in T, or those that bfloat16 holds, each
/// rounded once.
template <class T>
struct ComputeCopy {
  T* values;
  bool is_short = false;

  MESHPARITY_HD void set(int i, double master) const {
    values[i] = static_cast<T>(is_short ? nearest_bfloat16(master) : master);
  }
};

/// One chunk of a rule in double; then the copy of it.
template <class Rule, class T, Group G>
MESHPARITY_HD void update_masters(const Rule& rule, const T* grad, const ComputeCopy<T>& copy,
                                  const G& group, int chunk) {
  for_chunk(group, chunk, rule.count, [&](int i) {
    rule.update(i, rule.clip * static_cast<double>(grad[i]));
    copy.set(i, rule.theta[i]);
  });
}

/// AdamW in double; then the copy.
template <class T>
struct MasterAdamW {
  AdamW<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  ComputeCopy<T> copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

/// Gradient descent in double; then the copy.
template <class T>
struct MasterSgd {
  Sgd<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  ComputeCopy<T> copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

/// The same with momentum; then the copy.
template <class T>
struct MasterMomentum {
  Momentum<double> rule;  // theta: the masters; its own gradients are not read
  const T* grad;
  ComputeCopy<T> copy;

  int groups() const { return rule.groups(); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    update_masters(rule, grad, copy, group, chunk);
  }
};

}  // namespace meshparity
