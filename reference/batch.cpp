#include "reference/batch.hpp"

#include <algorithm>

#include "reference/batch_worker.hpp"
#include "reference/ordered_groups.hpp"

namespace meshparity::reference {

void RunSums::set_zero() {
  for (GradientSum& gradient : gradients) {
    gradient.set_zero();
  }
  loss = 0;
  loss_squares = 0;
}

void RunSums::add(const RunSums& other) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i].add(other.gradients[i]);
  }
  loss += other.loss;
  loss_squares += other.loss_squares;
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

void BatchSums::add(const BatchSums& other) {
  exact.add(other.exact);
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    replicas[k].add(other.replicas[k]);
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
  const int batch = plan.problem.model().global_batch;
  const int groups = (batch + kSamplesOfGroup - 1) / kSamplesOfGroup;
  const int threads = std::max(1, std::min(plan.threads, groups));
  std::vector<BatchWorker> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back(plan, output);
  }
  BatchSums total = workers.front().empty_sums();
  const auto work = [&](int thread, int group) {
    const int first = group * kSamplesOfGroup;
    workers[static_cast<std::size_t>(thread)].run(first, std::min(batch, first + kSamplesOfGroup));
  };
  const auto add = [&](int thread, int) {
    total.add(workers[static_cast<std::size_t>(thread)].sums());
  };
  run_groups(groups, threads, work, add);
  return total;
}

}  // namespace meshparity::reference
