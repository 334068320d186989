// A run of a pipeline that is never flushed (algorithms.md §3.5): one list of actions for all its
// micro-batches. A stage updates its weights alone, after each micro-batch or batch; what is on its
// way keeps the weights with which it began.
#pragma once
#include <cstdint>
#include <map>

#include "parallel_impl/loss_sum.hpp"
#include "parallel_impl/pipeline/planted_versions.hpp"
#include "parallel_impl/pipeline/weight_stash.hpp"
#include "parallel_impl/train_rank.hpp"

namespace meshparity {

template <class T>
class AsynchronousStream {
 public:
  /// `rank` outlives it.
  explicit AsynchronousStream(TrainingRank<T>& rank);
  void run();

 private:
  /// What a step has of its micro-batches so far.
  struct OpenStep {
    LossSum loss;             // of this stage: with the head all of it, else nothing
    std::int64_t tokens = 0;  // of this rank; of all replicas once they are summed
    int version = 0;          // that forward passes used
  };

  void carry_out(const Action& action);
  void pass(const Action& action);
  void plant_stale_start(const Action& pass);
  BatchPlace place_of(const Action& action) const;
  int step_of(const Action& action) const;
  int version_of(const Action& action) const;
  OpenStep& step(int number);
  void reduce(int number);
  void update(int number);
  void share_losses();

  TrainingRank<T>& rank_;
  ActionList actions_;
  WeightStash<T> stash_;
  StaleStart<T> stale_start_;      // by a planted fault
  std::map<int, OpenStep> steps_;  // by number; all of them at the end
};

}  // namespace meshparity
