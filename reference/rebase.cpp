#include "reference/rebase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "fixtures/content_hash.hpp"
#include "fixtures/error.hpp"
#include "fixtures/step_place.hpp"
#include "reference/job_output.hpp"
#include "reference/laws/laws_of_step.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

void append_bytes(const std::vector<Matrix>& matrices, std::string& bytes) {
  for (const Matrix& matrix : matrices) {
    const auto* first = reinterpret_cast<const char*>(matrix.data());
    bytes.append(first, static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
}

std::string name_of(const RebasedStep& asked) {
  std::string bytes;
  const State& newest = asked.start.newest;
  append_bytes(newest.parameters, bytes);
  append_bytes(newest.moment1, bytes);
  append_bytes(newest.moment2, bytes);
  for (const auto& [version, parameters] : asked.start.past) {
    append_bytes(parameters, bytes);
  }
  return fmt::format("{} {} {} {} {} {}", format_case(asked.problem.spec), asked.step,
                     level_name(asked.level), newest.steps_taken, newest.loss_scale.scale,
                     sha256_hex(bytes));
}

std::size_t bytes_of(const StepRecords& records) {
  std::size_t bytes = 0;
  for (const FilledRecord& filled : records.all()) {
    bytes += filled.values.size() * sizeof(double);
  }
  return bytes;
}

/// What the step begins with: the state after the one before, and where stages read older weights
/// those that were dumped then. Throws UsageError where the candidate's dump is not whole.
Versions read_start(const DumpReader& dump, const Problem& problem, int step) {
  const std::vector<ParamSpec>& table = problem.network.parameters();
  Versions start = {read_state(dump, table, problem.spec.optimizer, step - 1), {}};
  for (int stage = 0; stage < problem.stages(); ++stage) {
    const int version = version_used(problem.spec, stage, step);
    if (version < step) {
      start.past[version] = version == 0 ? initial_state(table, problem.spec.seed).parameters
                                         : read_parameters(dump, table, version - 1);
    }
  }
  return start;
}

/// Nothing where the candidate's states are not whole.
std::optional<Versions> start_of(const DumpReader& dump, const Problem& problem, int step) {
  try {
    return read_start(dump, problem, step);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// All that one job writes.
class RebaseOutput {
 public:
  RebaseOutput(const Job& job, const Problem& problem)
      : problem_(problem),
        spec_(parse_case(job.case_id)),
        level_(job.level),
        candidate_(job.state),
        writer_(job.out / rank_file_name(0), header_of(job)) {
    if (candidate_.header().case_id != job.case_id) {
      throw UsageError(fmt::format("{} is of case {}, not of {}", job.state.string(),
                                   candidate_.header().case_id, job.case_id));
    }
  }

  void write(int threads, RebasedSteps& known) {
    for (int step = 0; step < step_count(spec_); ++step) {
      write_records(step, threads, known);
      write_laws(step);
    }
    writer_.write_records(rows_);
    writer_.complete();
  }

 private:
  void write_records(int step, int threads, RebasedSteps& known) {
    if (step == 0 || spec_.optimizer != OptimizerKind::adamw) {
      return;
    }
    if (const std::optional<Versions> start = start_of(candidate_, problem_, step)) {
      write_step(known.records({problem_, *start, step, level_}, threads), step, writer_, rows_);
    }
  }

  void write_laws(int step) {
    CandidateStep dumped(candidate_, step);
    for (const Law& law : laws_of_step({problem_, spec_, level_}, dumped)) {
      writer_.write_law(law.row, law.values);
    }
  }

  const Problem& problem_;
  CaseSpec spec_;
  Level level_;
  DumpReader candidate_;
  DumpWriter writer_;
  std::vector<RecordRow> rows_;
};

}  // namespace

const StepRecords& RebasedSteps::records(const RebasedStep& asked, int threads) {
  std::string name = name_of(asked);
  const auto found = std::find_if(known_.begin(), known_.end(),
                                  [&](const Known& each) { return each.name == name; });
  if (found != known_.end()) {
    return found->records;
  }
  Training training(asked.problem, {asked.level, threads, false}, asked.start);
  StepRecords records = training.run(asked.step).records;
  const std::size_t bytes = bytes_of(records);
  while (!known_.empty() && held_ + bytes > limit_) {
    held_ -= known_.front().bytes;
    known_.pop_front();
  }
  held_ += bytes;
  ++computed_;
  known_.push_back({std::move(name), std::move(records), bytes});
  return known_.back().records;
}

void rebase_job(const Job& job, int threads, RebasedSteps& known) {
  if (job.state.empty()) {
    throw UsageError(
        fmt::format("job {} names no state; --rebase restarts from a candidate's", job.case_id));
  }
  const Problem problem = problem_of(job);
  RebaseOutput(job, problem).write(threads, known);
}

}  // namespace meshparity::reference
