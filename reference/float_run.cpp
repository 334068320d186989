#include "reference/float_run.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "fixtures/dump.hpp"
#include "reference/finished_step.hpp"
#include "reference/job_output.hpp"

namespace meshparity::reference {
namespace {

/// The state after an update is kept in float; AdamW's own operations are in FP64.
void keep_in_float(Rounding& rounding, State& state) {
  for (std::vector<Matrix>* matrices : {&state.parameters, &state.moment1, &state.moment2}) {
    for (Matrix& matrix : *matrices) {
      rounding.elementwise(matrix);
    }
  }
}

std::vector<RecordSpec> records_of(const Problem& problem, int step) {
  std::vector<RecordSpec> records;
  const std::vector<RecordSpec> table = record_table(problem.model(), problem.spec);
  std::copy_if(table.begin(), table.end(), std::back_inserter(records),
               [&](const RecordSpec& record) { return is_recorded(record, problem.spec, step); });
  return records;
}

void store(const SampleWork& work, int index, int batch, StepRecords& records) {
  for (const FilledRecord& filled : records.all()) {
    const RecordSpec& record = filled.record;
    if (by_sample(record)) {
      const bool gradient = record.phase == Phase::backward;
      const Matrix& values = named_tensor(gradient ? work.gradients : work.values, record.name);
      const auto part = records.part(records.place(record.phase, record.name), index, batch);
      std::copy_n(values.data(), values.size(), part.begin());
    }
  }
}

}  // namespace

FloatRun::FloatRun(const Problem& problem, Precision precision, Level level, SumOrder order)
    : problem_(problem),
      precision_(precision),
      level_(level),
      rounding_(Rounding::nearest(lane_of(precision), order)),
      state_(initial_state(problem.network.parameters(), problem.spec.seed)),
      weights_(make_noisy_weights(state_, problem.network.parameters(), rounding_)),
      work_(problem.model()) {}

RunSums FloatRun::empty_sums() const {
  return {problem_.network.gradient_sums(false, rounding_.sum_order()), 0, 0};
}

void FloatRun::run_sample(int step, int index, RunSums& sums, StepRecords& records) {
  const Sample sample =
      make_sample(problem_.model(), problem_.inputs, problem_.dropout(step), index);
  problem_.network.forward(weights_, sample, rounding_, work_);
  problem_.network.backward(weights_, sample, rounding_, work_, sums.gradients);
  sums.loss += work_.values.loss_token.sum();  // in FP64 by contract, as the clip norm is
  store(work_, index, problem_.model().global_batch, records);
}

/// Samples first ... last-1 in parts, each summed from zero.
RunSums FloatRun::run_group(int step, int first, int last, StepRecords& records) {
  const int parts = std::min(rounding_.sum_order().parts, last - first);
  RunSums total = empty_sums();
  for (int part = 0; part < parts; ++part) {
    RunSums sums = empty_sums();
    const int end = first + (part + 1) * (last - first) / parts;
    for (int index = first + part * (last - first) / parts; index < end; ++index) {
      run_sample(step, index, sums, records);
    }
    total.add(sums, 1);
  }
  return total;
}

StepRecords FloatRun::run(int step) {
  StepRecords records(records_of(problem_, step), level_);
  const LossShares shares = problem_.loss_shares(step);
  RunSums total = empty_sums();
  for (std::size_t group = 0; group < shares.of_group.size(); ++group) {
    const int first = static_cast<int>(group) * shares.samples_of_group;
    const RunSums of_group = run_group(step, first, first + shares.samples_of_group, records);
    total.add(of_group, rounding_.elementwise(shares.of_group[group]));
  }
  const double loss_scale = state_.loss_scale.scale;
  const Outcome outcome = finish_batch(problem_, std::move(total), shares, std::nullopt, rounding_);
  apply_update(problem_, outcome, rounding_, state_);
  keep_in_float(rounding_, state_);
  weights_ = make_noisy_weights(state_, problem_.network.parameters(), rounding_);
  std::vector<Matrix> copies;
  std::transform(weights_.begin(), weights_.end(), std::back_inserter(copies),
                 [](const Weight& weight) { return weight.value; });
  put_finished({problem_, step, shares.tokens, loss_scale, outcome, state_, copies}, records);
  return records;
}

void write_float_run(const Job& job, SumOrder order) {
  const Problem problem = problem_of(job);
  const Precision precision = parse_case(job.case_id).precision;
  FloatRun run(problem, precision, job.level, order);
  DumpWriter writer(job.out / rank_file_name(0), header_of(job));
  std::vector<RecordRow> rows;
  for (int step = 0; step < problem.spec.steps; ++step) {
    write_step(run.run(step), step, writer, rows, precision);
  }
  writer.complete();
}

}  // namespace meshparity::reference
