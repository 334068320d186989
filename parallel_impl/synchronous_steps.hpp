// The steps of a case whose ranks all update at the end of a step: its list of actions once a step,
// each time with the weights of the update before.
#pragma once
#include "parallel_impl/loss_sum.hpp"
#include "parallel_impl/train_rank.hpp"

namespace meshparity {

template <class T>
class SynchronousSteps {
 public:
  /// `rank` outlives it.
  explicit SynchronousSteps(TrainingRank<T>& rank);
  void run();

 private:
  void run_step(int step);
  void carry_out(const Action& action);
  void sum_gradients();
  void reduce_loss();

  TrainingRank<T>& rank_;
  LossSum loss_;
  ActionList actions_;  // of every step
  // Of the step under way.
  int step_ = 0;
  int version_ = 0;         // updates behind the weights
  bool is_summed_ = false;  // gradients are, by a planted fault, before all of them are there
};

}  // namespace meshparity
