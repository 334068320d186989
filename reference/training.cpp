#include "reference/training.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reference/finished_step.hpp"

namespace meshparity::reference {
namespace {

bool is_update(Phase phase) {
  return phase == Phase::param || phase == Phase::master || phase == Phase::moment1 ||
         phase == Phase::moment2;
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
    : Training(problem, options,
               {initial_state(problem.network.parameters(), problem.spec.seed), {}}) {}

Training::Training(const Problem& problem, const TrainingOptions& options, Versions start)
    : problem_(problem),
      options_(options),
      table_(record_table(problem.model(), problem.spec)),
      stages_(problem.stages_of_parameters()),
      versions_(std::move(start)) {
  if (options.companions && replicas_run_on()) {
    replicas_.assign(kReplicas, versions_);
  }
}

bool Training::replicas_run_on() const {
  return problem_.spec.optimizer != OptimizerKind::adamw;
}

std::vector<RecordSpec> Training::records_of(int step) const {
  std::vector<RecordSpec> records;
  std::copy_if(table_.begin(), table_.end(), std::back_inserter(records),
               [&](const RecordSpec& record) { return is_recorded(record, problem_.spec, step); });
  return records;
}

StepOutput Training::run(int step) {
  const std::vector<RecordSpec> table = records_of(step);
  StepOutput output = {StepRecords(table, options_.level), {}};
  BatchOutput batch(output.records, options_.companions);
  const LossShares shares = problem_.loss_shares(step);
  BatchSums sums = run_samples(step, shares, batch);
  if (options_.companions && replicas_part_late()) {
    sums.replicas.assign(kReplicas, sums.exact);
  }

  Rounding exact = Rounding::exact();
  State& state = versions_.newest;
  const double loss_scale = state.loss_scale.scale;
  const Outcome outcome =
      finish_batch(problem_, std::move(sums.exact), shares, std::nullopt, exact);
  keep_version(problem_.spec, step, versions_);
  apply_update(problem_, outcome, exact, state);
  put_finished({problem_, step, shares.tokens, loss_scale, outcome, state, state.parameters},
               output.records);
  if (options_.companions) {
    if (!replicas_part_late()) {
      summarise_samples(step, sums.companions, batch, output);
    }
    const ReplicaEnd end = {step, shares, loss_scale, outcome.clip.active,
                            late_records(table, replicas_run_on())};
    finish_replicas(end, sums.replicas, output);
  }
  return output;
}

/// Empty where all replicas compute with the exact weights.
std::vector<Weights> Training::replica_weights(int step) const {
  std::vector<Weights> weights;
  const bool rounded = options_.lane.operand > 0 || options_.lane.weight > 0;
  for (int k = 0; options_.companions && (rounded || replicas_run_on()) && k < kReplicas; ++k) {
    const Versions& own = replicas_run_on() ? replicas_[static_cast<std::size_t>(k)] : versions_;
    weights.push_back(make_noisy_weights(state_read_by(own, step), problem_.network.parameters(),
                                         Rounding::noisy(options_.lane, {k, step, kWeights})));
  }
  return weights;
}

BatchSums Training::run_samples(int step, const LossShares& shares, BatchOutput& batch) const {
  const Weights weights = make_weights(state_read_by(versions_, step));
  const std::vector<Weights> own = replica_weights(step);
  const bool apart = options_.companions && !replicas_part_late();
  std::vector<const Weights*> of_replicas(apart ? kReplicas : 0, &weights);
  std::transform(own.begin(), own.end(), of_replicas.begin(),
                 [](const Weights& replica) { return &replica; });
  return run_batch({problem_, step, shares, weights, of_replicas, options_.lane, options_.threads},
                   batch);
}

/// The replica's records; where the lane rounds weights its parameters are the compute copies that
/// the next step reads.
StepRecords Training::finish_replica(std::size_t k, const ReplicaEnd& end, RunSums sums) {
  const int number = static_cast<int>(k);
  Rounding rounding = Rounding::noisy(options_.lane, {number, end.step, kWholeStep});
  const Outcome outcome = finish_batch(problem_, std::move(sums), end.shares, end.clips, rounding);
  const State& state = replicas_run_on() ? replicas_[k].newest : versions_.newest;
  std::vector<Matrix> copies = state.parameters;
  if (replicas_run_on()) {
    keep_version(problem_.spec, end.step, replicas_[k]);
    apply_update(problem_, outcome, rounding, replicas_[k].newest);
    const Weights next =
        make_noisy_weights(state, problem_.network.parameters(),
                           Rounding::noisy(options_.lane, {number, end.step + 1, kWeights}));
    std::transform(next.begin(), next.end(), copies.begin(),
                   [](const Weight& weight) { return weight.value; });
  }
  StepRecords records(end.records, options_.level);
  put_finished({problem_, end.step, end.shares.tokens, end.loss_scale, outcome, state, copies},
               records);
  return records;
}

void Training::finish_replicas(const ReplicaEnd& end, std::span<RunSums> sums, StepOutput& output) {
  std::vector<StepRecords> replicas;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    replicas.push_back(finish_replica(k, end, std::move(sums[k])));
  }
  for (const FilledRecord& filled : output.records.all()) {
    if (replicas.front().has(filled.record.phase, filled.record.name)) {
      output.companions.push_back(late_companion(filled, replicas, end.step));
    }
  }
}

}  // namespace meshparity::reference
