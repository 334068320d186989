// The reference run of a case, step by step: the exact run and, if asked, the summary of its noisy
// replicas.
#pragma once
#include <span>
#include <vector>

#include "fixtures/companions.hpp"
#include "reference/problem.hpp"
#include "reference/state.hpp"
#include "reference/step_records.hpp"
#include "reference/update.hpp"
#include "reference/weight_versions.hpp"

namespace meshparity::reference {

/// K of bounds.md §2.3.
inline constexpr int kReplicas = 32;

struct TrainingOptions {
  Level level = Level::standard;
  int threads = 1;
  bool companions = false;  // of the records of `level`
  Lane lane = kFp32Lane;    // of the companions; records that no replica changes may have none
};

struct StepOutput {
  StepRecords records;
  std::vector<Companion> companions;
};

class Training {
 public:
  /// Starts from the initial state, or from one that was dumped.
  Training(const Problem& problem, const TrainingOptions& options);
  Training(const Problem& problem, const TrainingOptions& options, Versions start);

  /// Runs the step numbered `step` (its inputs and random words) from the present state.
  StepOutput run(int step);
  const State& state() const { return versions_.newest; }

 private:
  /// What the end of a step is the same of for all replicas.
  struct ReplicaEnd {
    int step;
    const LossShares& shares;
    double loss_scale;
    bool clips;  // the exact run's choice
    std::vector<RecordSpec> records;
  };

  std::vector<RecordSpec> records_of(int step) const;
  State state_read_by(const Versions& versions, int step) const {
    return state_read(problem_.spec, stages_, step, versions);
  }
  std::vector<Weights> replica_weights(int step) const;
  BatchSums run_samples(int step, const LossShares& shares, BatchOutput& batch) const;
  StepRecords finish_replica(std::size_t k, const ReplicaEnd& end, RunSums sums);
  void finish_replicas(const ReplicaEnd& end, std::span<RunSums> sums, StepOutput& output);
  bool replicas_run_on() const;
  /// All replicas compute as the exact run does until the sums over samples are complete.
  bool replicas_part_late() const { return options_.lane.is_quiet() && !replicas_run_on(); }

  const Problem& problem_;
  TrainingOptions options_;
  std::vector<RecordSpec> table_;
  std::vector<int> stages_;  // of parameters
  Versions versions_;
  std::vector<Versions> replicas_;  // SGD and momentum only: AdamW's restart each step
};

}  // namespace meshparity::reference
