#include "reference/batch_worker.hpp"

#include <algorithm>

#include "fixtures/step_place.hpp"

namespace meshparity::reference {
namespace {

const Matrix& tensor_of(const SampleWork& work, const RecordSpec& record) {
  const bool gradient = record.phase == Phase::backward;
  return named_tensor(gradient ? work.gradients : work.values, record.name);
}

RunSums empty_run(const BatchPlan& plan, bool noisy) {
  RunSums run = {plan.problem.network.gradient_sums(noisy), 0, 0};
  if (plan.lane.payload > 0) {
    std::for_each(run.gradients.begin(), run.gradients.end(),
                  [](GradientSum& gradient) { gradient.watch_samples(); });
  }
  return run;
}

}  // namespace

BatchWorker::BatchWorker(const BatchPlan& plan, BatchOutput& output)
    : plan_(&plan),
      output_(&output),
      exact_(plan.problem.model()),
      noisy_(plan.problem.model()),
      sums_() {
  const std::vector<FilledRecord>& records = output.records.all();
  const auto replicas = static_cast<Eigen::Index>(plan.replicas.size());
  for (std::size_t place = 0; place < records.size(); ++place) {
    const RecordSpec& record = records[place].record;
    if (by_sample(record)) {
      recorded_.push_back({record, place, Matrix(replicas, tensor_of(exact_, record).size())});
    }
  }
  sums_ = empty_sums();
}

BatchSums BatchWorker::empty_sums() const {
  const std::size_t replicas = plan_->replicas.size();
  const CompanionSums none(static_cast<int>(replicas));
  return {empty_run(*plan_, false),
          std::vector<RunSums>(replicas, empty_run(*plan_, !plan_->lane.is_quiet())),
          std::vector<CompanionSums>(replicas > 0 ? recorded_.size() : 0, none)};
}

void BatchWorker::run(int first, int last) {
  sums_.set_zero();
  for (int index = first; index < last; ++index) {
    run_sample(index);
  }
}

void BatchWorker::run_sample(int index) {
  const Problem& problem = plan_->problem;
  const int in_batch = sample_in_batch(problem.model(), problem.spec, plan_->step, index);
  const Sample sample =
      make_sample(problem.model(), problem.inputs, problem.dropout(plan_->step), in_batch);
  run_once(plan_->exact, sample, Rounding::exact(), exact_, sums_.exact);
  store_exact(index);
  for (std::size_t k = 0; k < plan_->replicas.size(); ++k) {
    const NoiseStream stream = {static_cast<int>(k), plan_->step, index};
    run_once(*plan_->replicas[k], sample, Rounding::noisy(plan_->lane, stream), noisy_,
             sums_.replicas[k]);
    note_deviations(k);
  }
  if (!plan_->replicas.empty()) {
    summarise(index);
  }
}

void BatchWorker::run_once(const Weights& weights, const Sample& sample, Rounding rounding,
                           SampleWork& work, RunSums& sums) {
  const Network& network = plan_->problem.network;
  network.forward(weights, sample, rounding, work);
  network.backward(weights, sample, rounding, work, sums.gradients);
  std::for_each(sums.gradients.begin(), sums.gradients.end(),
                [](GradientSum& gradient) { gradient.end_sample(); });
  sums.loss += work.values.loss_token.sum();
  sums.loss_squares += work.values.loss_token.squaredNorm();
}

void BatchWorker::store_exact(int index) {
  for (const Recorded& recorded : recorded_) {
    const Matrix& values = tensor_of(exact_, recorded.record);
    const auto part = output_->records.part(
        recorded.place, index, samples_of_step(plan_->problem.model(), plan_->problem.spec));
    std::copy_n(values.data(), values.size(), part.begin());
  }
}

void BatchWorker::note_deviations(std::size_t replica) {
  for (Recorded& recorded : recorded_) {
    const Matrix& exact = tensor_of(exact_, recorded.record);
    const Matrix& noisy = tensor_of(noisy_, recorded.record);
    recorded.deviations.row(static_cast<Eigen::Index>(replica)) =
        Eigen::Map<const Row>(noisy.data(), noisy.size()) -
        Eigen::Map<const Row>(exact.data(), exact.size());
  }
}

void BatchWorker::summarise(int index) {
  for (std::size_t i = 0; i < recorded_.size(); ++i) {
    const Recorded& recorded = recorded_[i];
    const auto exact = output_->records.part(
        recorded.place, index, samples_of_step(plan_->problem.model(), plan_->problem.spec));
    sums_.companions[i].add(recorded.deviations, exact);
    const std::span<float> s2 = output_->s2[i];
    mean_squares(recorded.deviations,
                 s2.subspan(static_cast<std::size_t>(index) * exact.size(), exact.size()));
  }
}

}  // namespace meshparity::reference
