#include "reference/golden_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "fixtures/case_rules.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "fixtures/job.hpp"
#include "fixtures/loss_scaling.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

std::map<RecordKey, Kept> read_golden(const std::filesystem::path& file,
                                      const std::string& case_id) {
  const DumpReader reader(file);
  if (reader.header().case_id != case_id) {
    throw Error(
        fmt::format("{}: is of {}, not of {}", file.string(), reader.header().case_id, case_id));
  }
  const std::vector<double> statistics = reader.read_local("statistics");
  std::map<RecordKey, Kept> golden;
  for (const Piece& piece : reader.pieces()) {
    const auto row = static_cast<std::size_t>(piece.order) * 2;
    golden[{piece.phase, piece.step, piece.record}] = {
        std::get<RowsPlacement>(piece.placement).rows, reader.read(piece), statistics.at(row),
        statistics.at(row + 1)};
  }
  return golden;
}

/// Every record of the reference's dump, which holds each as one whole piece.
std::map<RecordKey, std::vector<double>> read_reference(const std::filesystem::path& file) {
  const DumpReader reader(file);
  std::map<RecordKey, std::vector<double>> records;
  for (const Piece& piece : reader.pieces()) {
    const RecordKey key = {piece.phase, piece.step, piece.record};
    if (!records.emplace(key, reader.read(piece)).second) {
      throw Error(fmt::format("{}: a second piece of a record", piece.path));
    }
  }
  return records;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Throws Error with what the command printed when it does not end with 0.
void run_command(const std::string& command, const std::filesystem::path& log) {
  if (std::system(fmt::format("{} >'{}' 2>&1", command, log.string()).c_str()) != 0) {
    throw Error(fmt::format("{}: {}", command, text_of(log)));
  }
}

}  // namespace

GoldenCase::GoldenCase(const std::string& case_id, const std::filesystem::path& golden, Level level)
    : spec_(parse_case(case_id)),
      model_(load_named_model(MESHPARITY_MODELS, spec_.model)),
      parameters_(param_table(model_)),
      records_(record_table(model_, spec_)),
      golden_(read_golden(golden, case_id)) {
  run_reference(level);
}

void GoldenCase::run_reference(Level level) {
  const ScratchFolder folder;
  Job job;
  job.case_id = format_case(spec_);
  job.out = folder / "out";
  job.models = MESHPARITY_MODELS;
  job.level = level;
  job.commit = "golden test";
  std::filesystem::create_directories(job.out);
  const std::filesystem::path jobs = folder.write("jobs", format_job(job) + "\n");
  run_command(fmt::format("'{}' --jobs '{}'", MESHPARITY_REFERENCE, jobs.string()), folder / "log");
  ours_ = read_reference(job.out / rank_file_name(0));
}

void GoldenCase::forget_gradient(const std::string& parameter) {
  for (auto& [key, kept] : golden_) {
    if (key.phase == Phase::grad && key.record == parameter) {
      kept.values.assign(kept.values.size(), 0.0);
    }
  }
}

const Kept& GoldenCase::kept(Phase phase, int step, const std::string& record) const {
  const auto found = golden_.find({phase, step, record});
  if (found == golden_.end()) {
    throw Error(
        fmt::format("the golden file has no {} {} of step {}", phase_name(phase), record, step));
  }
  return found->second;
}

const std::vector<double>& GoldenCase::ours(const RecordKey& key) const {
  const auto found = ours_.find(key);
  if (found == ours_.end()) {
    throw Error(fmt::format("the reference has no {} {} of step {}", phase_name(key.phase),
                            key.record, key.step));
  }
  return found->second;
}

std::vector<int> GoldenCase::taken_steps() const {
  std::vector<int> steps;
  for (int step = 0; step <= last_step(); ++step) {
    if (!is_skipped(spec_, step)) {
      steps.push_back(step);
    }
  }
  return steps;
}

double GoldenCase::clip_coefficient(int step) const {
  return is_asynchronous(spec_.schedule) ? 1 : scalar(step, "clip_coef");
}

double GoldenCase::scalar(int step, const std::string& record) const {
  return kept(Phase::scalar, step, record).values.at(0);
}

double GoldenCase::largest_gradient(int step) const {
  double largest = 0;
  for (const ParamSpec& param : parameters_) {
    largest = std::max(largest, kept(Phase::grad, step, param.name).largest);
  }
  return largest;
}

bool torch_is_here() {
  const std::string command =
      fmt::format("'{}' -c 'import h5py, numpy, torch' >/dev/null 2>&1", MESHPARITY_PYTHON);
  return std::system(command.c_str()) == 0;
}

std::filesystem::path make_golden(const std::string& case_id, const std::filesystem::path& folder,
                                  bool all_records) {
  const std::string inputs = (folder / "inputs").string();
  const std::filesystem::path golden = folder / "golden.h5";
  run_command(
      fmt::format("'{}' {} '{}' '{}'", MESHPARITY_INPUTS, case_id, MESHPARITY_MODELS, inputs),
      folder / "log");
  run_command(
      fmt::format("'{}' '{}/make_golden.py' '{}' '{}'{}", MESHPARITY_PYTHON, MESHPARITY_GOLDEN,
                  inputs, golden.string(), all_records ? " --all-records" : ""),
      folder / "log");
  return golden;
}

}  // namespace meshparity
