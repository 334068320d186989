// Forward and backward of a step's whole batch, sample by sample: the exact run, and beside it the
// noisy ones, of which only sums stay.
#pragma once
#include <span>
#include <vector>

#include "reference/companion_sums.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/loss_shares.hpp"
#include "reference/problem.hpp"
#include "reference/step_records.hpp"

namespace meshparity::reference {

/// At most so many samples' sums are formed by one thread at a time; the sums of such runs are
/// added in order. A constant, so that bits do not depend on the number of threads.
inline constexpr int kSamplesOfRun = 4;

/// One replica's sums over tokens, or the exact ones.
struct RunSums {
  std::vector<GradientSum> gradients;
  double loss = 0;          // sum of w_i loss_i
  double loss_squares = 0;  // of those terms

  void set_zero();
  void add(const RunSums& other, double share);
};

struct BatchSums {
  RunSums exact;
  std::vector<RunSums> replicas;
  std::vector<CompanionSums> companions;  // one for each record made by sample

  void set_zero();
  /// `share`: how much the losses of the other's samples count.
  void add(const BatchSums& other, double share);
};

/// What to run; replica k takes its weights from replicas[k] and its noise from `lane`.
struct BatchPlan {
  const Problem& problem;
  int step = 0;
  const LossShares& shares;
  const Weights& exact;
  std::span<const Weights* const> replicas;
  Lane lane = kFp32Lane;
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
