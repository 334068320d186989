#include "reference/training.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace meshparity::reference {
namespace {

std::span<const double> elements(const Matrix& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

/// Everything of a step that is not made sample by sample.
struct Finished {
  const Problem& problem;
  int step;
  double tokens;
  const Outcome& outcome;
  const State& state;  // after the update
};

void put_scalars(const Finished& finished, StepRecords& records) {
  const Outcome& outcome = finished.outcome;
  records.put(Phase::loss, "loss", outcome.loss);
  records.put(Phase::scalar, "token_count", finished.tokens);
  records.put(Phase::scalar, "grad_norm", outcome.norm);
  records.put(Phase::scalar, "clip_coef", outcome.clip.coefficient);
  records.put(Phase::scalar, "lr", finished.problem.learning_rate());
  records.put(Phase::margin, "clip", outcome.clip.margin);
}

void put_parameters(const Finished& finished, StepRecords& records) {
  const std::vector<ParamSpec>& table = finished.problem.network.parameters();
  for (std::size_t i = 0; i < table.size(); ++i) {
    records.put(Phase::grad, table[i].name, elements(finished.outcome.gradients[i]));
    records.put(Phase::moment1, table[i].name, elements(finished.state.moment1[i]));
    records.put(Phase::moment2, table[i].name, elements(finished.state.moment2[i]));
    records.put(Phase::param, table[i].name, elements(finished.state.parameters[i]));
  }
}

void put_exact(const Finished& finished, StepRecords& records) {
  std::vector<double> ids;
  for (int sample = 0; sample < finished.problem.model().global_batch; ++sample) {
    ids.push_back(static_cast<double>(finished.problem.inputs.sample_id(finished.step, sample)));
  }
  records.put(Phase::exact, "sample_ids", ids);
  records.put(Phase::exact, "step_count", static_cast<double>(finished.state.steps_taken));
  const std::array<double, 2> key = {static_cast<double>(finished.problem.spec.seed),
                                     static_cast<double>(finished.step)};
  records.put(Phase::exact, "rng_key", key);
}

void put_all(const Finished& finished, StepRecords& records) {
  put_scalars(finished, records);
  put_parameters(finished, records);
  put_exact(finished, records);
}

bool is_update(Phase phase) {
  return phase == Phase::param || phase == Phase::moment1 || phase == Phase::moment2;
}

/// Records with companions that are made at the end of the step.
std::vector<RecordSpec> late_records(const std::vector<RecordSpec>& table, bool replicas_run_on) {
  std::vector<RecordSpec> late;
  std::copy_if(table.begin(), table.end(), std::back_inserter(late), [&](const RecordSpec& record) {
    return !by_sample(record) && record.phase != Phase::exact &&
           (replicas_run_on || !is_update(record.phase));
  });
  return late;
}

Companion late_companion(const FilledRecord& exact, std::span<const StepRecords> replicas,
                         int step) {
  const Eigen::Map<const Row> ref(exact.values.data(),
                                  static_cast<Eigen::Index>(exact.values.size()));
  Matrix deviations(static_cast<Eigen::Index>(replicas.size()), ref.size());
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    const auto values = replicas[k].values(exact.record.phase, exact.record.name);
    deviations.row(static_cast<Eigen::Index>(k)) =
        Eigen::Map<const Row>(values.data(), ref.size()) - ref;
  }
  CompanionSums sums(static_cast<int>(replicas.size()));
  sums.add(deviations, exact.values);
  std::vector<float> s2(exact.values.size());
  mean_squares(deviations, s2);
  return sums.finish(exact.record, step, std::move(s2));
}

void summarise_samples(int step, std::span<const CompanionSums> sums, BatchOutput& batch,
                       StepOutput& output) {
  std::size_t i = 0;
  for (const FilledRecord& filled : output.records.all()) {
    if (by_sample(filled.record)) {
      output.companions.push_back(sums[i].finish(filled.record, step, std::move(batch.s2[i])));
      ++i;
    }
  }
}

}  // namespace

Training::Training(const Problem& problem, const TrainingOptions& options)
    : Training(problem, options, initial_state(problem.network.parameters(), problem.spec.seed)) {}

Training::Training(const Problem& problem, const TrainingOptions& options, State start)
    : problem_(problem),
      options_(options),
      table_(record_table(problem.model(), problem.spec)),
      state_(std::move(start)) {
  if (options.companions && replicas_run_on()) {
    replicas_.assign(kReplicas, state_);
  }
}

bool Training::replicas_run_on() const {
  return problem_.spec.optimizer != OptimizerKind::adamw;
}

StepOutput Training::run(int step) {
  StepOutput output = {StepRecords(table_, options_.level), {}};
  BatchOutput batch(output.records, options_.companions);
  BatchSums sums = run_samples(step, batch);

  Rounding exact = Rounding::exact();
  const double tokens = count_tokens(problem_.model(), problem_.inputs, step);
  const Outcome outcome =
      finish_batch(problem_, std::move(sums.exact), tokens, std::nullopt, exact);
  apply_update(problem_, outcome, exact, state_);
  put_all({problem_, step, tokens, outcome, state_}, output.records);
  if (options_.companions) {
    summarise_samples(step, sums.companions, batch, output);
    finish_replicas(step, sums.replicas, outcome.clip.active, output);
  }
  return output;
}

BatchSums Training::run_samples(int step, BatchOutput& batch) const {
  const Weights weights = make_weights(state_);
  std::vector<Weights> own;
  std::transform(replicas_.begin(), replicas_.end(), std::back_inserter(own), make_weights);
  std::vector<const Weights*> of_replicas(options_.companions ? kReplicas : 0, &weights);
  std::transform(own.begin(), own.end(), of_replicas.begin(),
                 [](const Weights& replica) { return &replica; });
  return run_batch({problem_, step, weights, of_replicas, options_.threads}, batch);
}

void Training::finish_replicas(int step, std::span<RunSums> sums, bool clips, StepOutput& output) {
  const std::vector<RecordSpec> late = late_records(table_, replicas_run_on());
  const double tokens = count_tokens(problem_.model(), problem_.inputs, step);
  std::vector<StepRecords> replicas(sums.size(), StepRecords(late, options_.level));
  for (std::size_t k = 0; k < sums.size(); ++k) {
    Rounding rounding = Rounding::noisy(kFp32Lane, {static_cast<int>(k), step, kWholeStep});
    const Outcome outcome = finish_batch(problem_, std::move(sums[k]), tokens, clips, rounding);
    if (replicas_run_on()) {
      apply_update(problem_, outcome, rounding, replicas_[k]);
    }
    const State& state = replicas_run_on() ? replicas_[k] : state_;
    put_all({problem_, step, tokens, outcome, state}, replicas[k]);
  }
  for (const FilledRecord& filled : output.records.all()) {
    if (replicas.front().has(filled.record.phase, filled.record.name)) {
      output.companions.push_back(late_companion(filled, replicas, step));
    }
  }
}

}  // namespace meshparity::reference
