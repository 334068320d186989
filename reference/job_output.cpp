#include "reference/job_output.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

void write_record(const FilledRecord& filled, int step, Precision computed_in, DumpWriter& writer) {
  Piece piece;
  piece.computed_in = precision_name(computed_in);
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

Problem problem_of(const Job& job) {
  const CaseSpec own = parse_case(job.case_id);
  CaseSpec key = parse_case(reference_key(own));
  key.precision = own.precision == Precision::bf16 ? own.precision : key.precision;
  key.master64 = own.master64;
  std::shared_ptr<const Text> text;
  if (!job.text.empty()) {
    text = std::make_shared<const Text>(load_text(job.text));
  }
  return Problem(load_named_model(job.models, key.model), key, std::move(text));
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

void write_step(const StepRecords& records, int step, DumpWriter& writer,
                std::vector<RecordRow>& rows, Precision computed_in) {
  for (const FilledRecord& filled : records.all()) {
    write_record(filled, step, computed_in, writer);
    rows.push_back({filled.record, step});
  }
}

}  // namespace meshparity::reference
