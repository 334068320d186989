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
  /// Moments of what this rank owns of parameter `index` of its own; null where the optimizer has
  /// none. A parameter that shares its value has those of the one it is tied to.
  const T* moment1(std::size_t index) const { return at(moment1_, index); }
  const T* moment2(std::size_t index) const { return at(moment2_, index); }
  /// Of a bucket, its padding included; without elements where there are none.
  const Buffer<T>& bucket_moment1(std::size_t bucket) const { return moment1_[bucket]; }
  const Buffer<T>& bucket_moment2(std::size_t bucket) const { return moment2_[bucket]; }
  /// Every moment that this rank keeps becomes what its parameter is: for a probe.
  void show_parameters(FaultPlan* faults = nullptr);

 private:
  void adamw(std::size_t index, double clip, FaultPlan* faults);
  AdamW<T> adamw_kernel(std::size_t index, double clip);
  void show_parameter(std::size_t index, std::vector<Buffer<T>>& moments, bool late);
  /// Where a parameter's own part lies in moments kept by bucket.
  T* at(std::vector<Buffer<T>>& moments, std::size_t index) const;
  const T* at(const std::vector<Buffer<T>>& moments, std::size_t index) const;
  void sgd(Param<T>& param, double clip);
  void momentum(std::size_t index, double clip);

  OptimizerKind kind_;
  const ModelSpec& model_;
  Backend<T>& backend_;
  Parameters<T>& params_;
  std::vector<std::size_t>
      bucket_of_;  // each parameter's, or that of the one whose value it shares
  std::vector<Buffer<T>> moment1_, moment2_;  // this rank's part of each bucket
  std::int64_t steps_taken_ = 0;
};

}  // namespace meshparity
