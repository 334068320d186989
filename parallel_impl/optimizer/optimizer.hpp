// One optimizer step on the parts of parameters that a rank owns; what it keeps is cut like them.
#pragma once
#include <string>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/optimizer/optimizer_state.hpp"
#include "parallel_impl/recorder.hpp"

namespace meshparity {

/// In bf16 it updates masters in T; each parameter is its master, rounded to bfloat16. With
/// `master64` it updates masters in double, with moments in double, from gradients in T; each
/// parameter is its master, rounded once, to T or in bf16 to bfloat16.
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
  /// All that this rank keeps becomes what its parameter is: for a probe.
  void show_parameters(FaultPlan* faults = nullptr);

  /// Calls `visitor` with the state, OptimizerState<double> with masters, else of T.
  template <class Visitor>
  void visit_state(Visitor&& visitor) const {
    has_masters_ ? visitor(wide_) : visitor(plain_);
  }
  /// Of parameter `index` of the rank's; where it shares its value, that of the one it is tied to.
  const StatePlace& place(std::size_t index) const { return places_[index]; }

 private:
  template <class S>
  void allocate(OptimizerState<S>& state);
  template <class S>
  void show(std::size_t index, OptimizerState<S>& state, bool late);
  template <class S>
  void put(const T* from, S* to, int count);
  void begin_masters();
  T* theta(std::size_t index);
  void update(std::size_t index, double clip, FaultPlan* faults);
  void adamw(std::size_t index, double clip, FaultPlan* faults);
  template <class S>
  AdamW<S> adamw_rule(std::size_t index, OptimizerState<S>& state, double clip) const;
  void sgd(std::size_t index, double clip);
  void momentum(std::size_t index, double clip);

  OptimizerKind kind_;
  bool has_masters_;  // in double
  bool is_short_;     // parameters are what bfloat16 holds of masters, in T or in double
  const ModelSpec& model_;
  Backend<T>& backend_;
  Parameters<T>& params_;
  std::vector<StatePlace> places_;  // by parameter
  OptimizerState<T> plain_;
  OptimizerState<double> wide_;
  std::int64_t steps_taken_ = 0;
};

}  // namespace meshparity
