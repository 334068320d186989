// Forward and backward of a step's whole batch, sample by sample: the exact run, and beside it the
// noisy ones, of which only sums stay.
#pragma once
#include <span>
#include <vector>

#include "reference/companion_sums.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/problem.hpp"
#include "reference/step_records.hpp"

namespace meshparity::reference {

/// Samples whose sums one thread forms; the sums of groups are added in order. A constant, so that
/// bits do not depend on the number of threads.
inline constexpr int kSamplesOfGroup = 4;

/// One run's sums over tokens.
struct RunSums {
  std::vector<GradientSum> gradients;
  double loss = 0;          // sum of w_i loss_i
  double loss_squares = 0;  // of those terms

  void set_zero();
  void add(const RunSums& other);
};

struct BatchSums {
  RunSums exact;
  std::vector<RunSums> replicas;
  std::vector<CompanionSums> companions;  // one for each record made by sample

  void set_zero();
  void add(const BatchSums& other);
};

/// What to run; replica k takes its weights from replicas[k].
struct BatchPlan {
  const Problem& problem;
  int step = 0;
  const Weights& exact;
  std::span<const Weights* const> replicas;
  int threads = 1;
};

/// Where a batch puts its records: whole in `records`; s2 of those made by sample, in their order.
struct BatchOutput {
  StepRecords& records;
  std::vector<std::vector<float>> s2;

  BatchOutput(StepRecords& target, bool companions);
};

BatchSums run_batch(const BatchPlan& plan, BatchOutput& output);

}  // namespace meshparity::reference
