// One optimizer step on a rank's parameters; its moments are cut and shared like the parameters.
#pragma once
#include <string>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

template <class T>
class Optimizer {
 public:
  Optimizer(const CaseSpec& spec, const ModelSpec& model, Backend<T>& backend,
            Parameters<T>& params);

  double learning_rate() const;
  /// Steps taken so far.
  std::int64_t steps_taken() const { return steps_taken_; }
  /// Updates every parameter from its gradient times `clip`, one that shares its value once.
  /// `faults` is null in unit tests.
  void step(double clip, FaultPlan* faults = nullptr);
  /// Moments of parameter `index` of the rank's; empty where the optimizer has none. A parameter
  /// that shares its value has those of the one it is tied to.
  const Buffer<T>& moment1(std::size_t index) const { return moment1_[source_[index]]; }
  const Buffer<T>& moment2(std::size_t index) const { return moment2_[source_[index]]; }
  /// Every moment that this rank keeps becomes what its parameter is: for a probe.
  void show_parameters(FaultPlan* faults = nullptr);

 private:
  void adamw(std::size_t index, double clip, FaultPlan* faults);
  AdamW<T> adamw_kernel(std::size_t index, double clip);
  void show_parameter(std::size_t index, Buffer<T>& moment, bool late);
  void sgd(Param<T>& param, double clip);
  void momentum(std::size_t index, double clip);

  OptimizerKind kind_;
  const ModelSpec& model_;
  Backend<T>& backend_;
  Parameters<T>& params_;
  std::vector<std::size_t> source_;  // of each parameter: itself, or whose value it shares
  std::vector<Buffer<T>> moment1_, moment2_;
  std::int64_t steps_taken_ = 0;
};

}  // namespace meshparity
