#include "reference/batch.hpp"

#include <algorithm>

#include "reference/batch_worker.hpp"
#include "reference/ordered_groups.hpp"

namespace meshparity::reference {
namespace {

/// Samples first ... last-1, all of one group of the loss.
struct SampleRun {
  int first, last;
  double share;
};

std::vector<SampleRun> sample_runs(const LossShares& shares) {
  std::vector<SampleRun> runs;
  for (std::size_t group = 0; group < shares.of_group.size(); ++group) {
    const int begin = static_cast<int>(group) * shares.samples_of_group;
    const int end = begin + shares.samples_of_group;
    for (int first = begin; first < end; first += kSamplesOfRun) {
      runs.push_back({first, std::min(end, first + kSamplesOfRun), shares.of_group[group]});
    }
  }
  return runs;
}

}  // namespace

void RunSums::set_zero() {
  for (GradientSum& gradient : gradients) {
    gradient.set_zero();
  }
  loss = 0;
  loss_squares = 0;
}

void RunSums::add(const RunSums& other, double share) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i].add(other.gradients[i], share);
  }
  loss += share * other.loss;
  loss_squares += share * share * other.loss_squares;
}

void BatchSums::set_zero() {
  exact.set_zero();
  for (RunSums& replica : replicas) {
    replica.set_zero();
  }
  for (CompanionSums& companion : companions) {
    companion.set_zero();
  }
}

void BatchSums::add(const BatchSums& other, double share) {
  exact.add(other.exact, share);
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    replicas[k].add(other.replicas[k], share);
  }
  for (std::size_t i = 0; i < companions.size(); ++i) {
    companions[i].add(other.companions[i]);
  }
}

BatchOutput::BatchOutput(StepRecords& target, bool companions) : records(target) {
  for (const FilledRecord& filled : target.all()) {
    if (companions && by_sample(filled.record)) {
      s2.emplace_back(filled.values.size());
    }
  }
}

BatchSums run_batch(const BatchPlan& plan, BatchOutput& output) {
  const std::vector<SampleRun> runs = sample_runs(plan.shares);
  const int threads = std::max(1, std::min(plan.threads, static_cast<int>(runs.size())));
  std::vector<BatchWorker> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(plan, output);
  }
  BatchSums total = workers.front().empty_sums();
  const auto work = [&](int thread, int index) {
    const SampleRun& run = runs[static_cast<std::size_t>(index)];
    workers[static_cast<std::size_t>(thread)].run(run.first, run.last);
  };
  const auto add = [&](int thread, int index) {
    total.add(workers[static_cast<std::size_t>(thread)].sums(),
              runs[static_cast<std::size_t>(index)].share);
  };
  run_groups(static_cast<int>(runs.size()), threads, work, add);
  return total;
}

}  // namespace meshparity::reference
