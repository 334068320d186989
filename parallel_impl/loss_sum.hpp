// The step's loss: losses of tokens over all micro-batches and ranks, added without rounding, so
// that its bits depend on no layout (algorithms.md §4.8 for the modes).
#pragma once
#include <cstdint>
#include <span>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/mesh/mesh.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"

namespace meshparity {

class LossSum {
 public:
  LossSum(const CaseSpec& spec, const Mesh& mesh, FaultPlan& faults);

  void begin_step();
  /// One micro-batch's weighted losses; `counted` of its tokens have weight one.
  template <class T>
  void add(std::span<const T> losses, std::int64_t counted);
  /// What a micro-batch's own mean is divided by: 1 where the loss is a mean over the step's
  /// tokens; one without tokens has loss and gradients 0.
  std::int64_t divisor_of(std::int64_t counted) const;
  /// Over all data-parallel ranks and stages, in one sum of integers; only the stage with the head
  /// has anything to add.
  void reduce(Comm& comm, int step);
  /// Where stages do not meet after a step: its tokens, counted elsewhere, and its sum of losses as
  /// integers that add up over ranks to that of all.
  void set_tokens(std::int64_t tokens) { tokens_ = tokens; }
  std::span<std::int64_t> mergeable() { return sum_.mergeable(); }

  std::int64_t tokens() const { return tokens_; }
  /// What the sum of losses, and so every gradient, is divided by: the step's tokens, or how many
  /// means there are.
  std::int64_t divisor() const;
  /// 0 where there are no tokens.
  double loss() const;

 private:
  /// Data-parallel micro-batches of a step.
  std::int64_t parts() const;

  const CaseSpec& spec_;
  const Mesh& mesh_;
  FaultPlan& faults_;
  /// Both modes of means of means agree while no sequence is divided.
  bool is_mean_of_means_ = false;
  ExactSum sum_;
  std::int64_t tokens_ = 0;
};

}  // namespace meshparity
