// All that happens to a step's gradients after the last backward pass: sums over ranks, then,
// unless the step is skipped, division, clip norm and update; with the records of all of it.
#pragma once
#include "fixtures/case_spec.hpp"
#include "parallel_impl/model/value_gather.hpp"
#include "parallel_impl/optimizer/gradient_sums.hpp"
#include "parallel_impl/optimizer/gradients.hpp"
#include "parallel_impl/optimizer/loss_scale.hpp"
#include "parallel_impl/optimizer/optimizer.hpp"
#include "parallel_impl/optimizer/param_records.hpp"

namespace meshparity {

/// Everything referenced outlives it.
template <class T>
class StepUpdate {
 public:
  struct Parts {
    const CaseSpec& spec;
    const ModelSpec& model;
    const Mesh& mesh;
    Comm& comm;
    Backend<T>& backend;
    Recorder& recorder;
    FaultPlan& faults;
    CommGroup tied;  // as Gradients::Parts has it
  };
  StepUpdate(const Parts& parts, Parameters<T>& params, ValueGather<T>& values);

  /// Of the losses of the step under way.
  double loss_scale() const { return scale_.value(); }
  /// Optimizer steps taken so far: the version of the weights.
  std::int64_t steps_taken() const { return optimizer_.steps_taken(); }
  ParamRecords<T>& records() { return records_; }
  /// Who computes gradients of a micro-batch says when they begin and when they are complete.
  GradientSums<T>& sums() { return sums_; }

  /// Gradients are summed over all ranks that have a share of them.
  void reduce(int step);
  /// After reduce: gradients become those of the loss, which is a sum over `loss_divisor`, and
  /// parameters those of the next step; a skipped step leaves parameters, moments and the step
  /// count as they are.
  void update(int step, double loss_divisor);
  /// The same of a stage that updates its own weights while others are at other steps: nothing is
  /// asked of them, so there is no norm, no clip, and no step is skipped.
  void update_alone(int step, double loss_divisor);

 private:
  double planted_divisor() const;
  void record_scale(int step, bool skipped);
  void finish_gradients(int step, double loss_divisor);
  void clip_and_step(int step);
  double clip(int step, double norm);
  void record_update(int step);

  Parts parts_;
  Parameters<T>& params_;
  GradientSums<T> sums_;
  ValueGather<T>& values_;
  Gradients<T> gradients_;
  Optimizer<T> optimizer_;
  ParamRecords<T> records_;
  LossScale scale_;
};

}  // namespace meshparity
