#include "reference/run_job.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/inputs_file.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

/// The CPU's name as Linux gives it: libm's bits depend on it.
std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

DumpHeader header_of(const Job& job) {
  DumpHeader header;
  header.case_id = job.case_id;
  header.commit = job.commit;
  header.build = MESHPARITY_REFERENCE_BUILD;
  header.cpu = cpu_name();
  header.level = job.level;
  return header;
}

Problem problem_of(const Job& job) {
  const CaseSpec key = parse_case(reference_key(parse_case(job.case_id)));
  std::shared_ptr<const Text> text;
  if (!job.text.empty()) {
    text = std::make_shared<const Text>(load_text(job.text));
  }
  return Problem(load_named_model(job.models, key.model), key, std::move(text));
}

void write_record(const FilledRecord& filled, int step, DumpWriter& writer) {
  Piece piece;
  piece.record = filled.record.name;
  piece.order = filled.record.order;
  piece.step = step;
  piece.phase = filled.record.phase;
  piece.type = filled.record.type;
  piece.placement = whole(filled.record.shape);
  if (filled.record.type == ElementType::float64) {
    writer.write(std::move(piece), filled.values);
    return;
  }
  std::vector<std::int64_t> integers;
  for (const double value : filled.values) {
    integers.push_back(std::llround(value));
  }
  writer.write_integers(std::move(piece), integers);
}

}  // namespace

void run_job(const Job& job, int threads) {
  const Problem problem = problem_of(job);
  Training training(problem, {job.level, threads, job.companions});
  const bool words = job.level == Level::all;
  write_inputs(job.out / "inputs.h5", {problem.model(), problem.spec, problem.inputs}, words);
  write_case_json(job.out / "case.json", problem.model(), problem.spec);
  DumpWriter writer(job.out / rank_file_name(0), header_of(job));
  std::vector<RecordRow> rows;
  std::vector<Companion> companions;
  for (int step = 0; step < problem.spec.steps; ++step) {
    StepOutput output = training.run(step);
    for (const FilledRecord& filled : output.records.all()) {
      write_record(filled, step, writer);
      rows.push_back({filled.record, step});
    }
    std::move(output.companions.begin(), output.companions.end(), std::back_inserter(companions));
  }
  writer.write_records(rows);
  if (job.companions) {
    write_companions(job.out / "companions_fp32.h5", std::string(kFp32Lane.name), companions);
  }
  writer.complete();
}

}  // namespace meshparity::reference
