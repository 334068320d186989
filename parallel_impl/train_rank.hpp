// All that one rank keeps during a case, whatever the order of its work: memory, its part of the
// model, records, the update. Who carries its list of actions out is synchronous_steps.hpp or
// asynchronous_stream.hpp.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "parallel_impl/optimizer/step_update.hpp"
#include "parallel_impl/pipeline/action_runner.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

template <class T>
class TrainingRank {
 public:
  /// Everything that the context refers to outlives it.
  explicit TrainingRank(const RankContext& context);
  TrainingRank(const TrainingRank&) = delete;
  TrainingRank& operator=(const TrainingRank&) = delete;

  const RankContext& context() const { return context_; }
  const CaseSpec& spec() const { return context_.spec; }
  FaultPlan& faults() const { return context_.faults; }
  int stage() const { return context_.mesh.index(Axis::pp); }
  Backend<T>& backend() { return *backend_; }
  Parameters<T>& params() { return params_; }
  ActivationRecords<T>& activation_records() { return activation_records_; }
  ActionLog& log() { return log_; }
  StepUpdate<T>& update() { return update_; }
  ActionRunner<T>& runner() { return runner_; }

  /// What this rank is due to do, messages and update included.
  ActionList actions() const;
  /// How long an action takes on the logical clock.
  int duration(const Action& action) const {
    return duration_of(action.kind, parts_.splits_backward);
  }
  /// Shown on the board.
  void phase(std::string_view name);
  /// What this rank's allocator counted, a row a tag.
  std::vector<MemoryRow> memory() const;

 private:
  CommGroup tp_group() const { return context_.mesh.group({Axis::tp}); }

  const RankContext& context_;
  std::unique_ptr<Backend<T>> backend_;
  Stages stages_;
  Parameters<T> params_;
  ActivationRecords<T> activation_records_;
  KeepWords words_;
  LocalExtent extent_;
  ValueGather<T> values_;
  Workspace<T> work_;
  RankParts<T> parts_;
  ActionLog log_;
  StepUpdate<T> update_;
  ActionRunner<T> runner_;
};

}  // namespace meshparity
