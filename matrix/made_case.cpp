#include "matrix/made_case.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "fixtures/element_type.hpp"
#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/placement_runs.hpp"

namespace meshparity {
namespace {

std::filesystem::path fresh_folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "made_case_XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error("making a folder for a test");
  }
  return pattern;
}

void write_piece(DumpWriter& writer, Piece piece, const std::vector<double>& values) {
  if (is_integer(piece.type)) {
    const std::vector<std::int64_t> integers(values.begin(), values.end());
    writer.write_integers(std::move(piece), integers);
  } else {
    writer.write(std::move(piece), values);
  }
}

Companion companion_of(const MadeRecord& record) {
  const std::int64_t count = elements_of(record.spec.shape);
  Companion companion;
  companion.record = record.spec.name;
  companion.phase = record.spec.phase;
  companion.step = record.step;
  companion.rows = 1;
  for (int d = 0; d < record.spec.row_dims; ++d) {
    companion.rows *= record.spec.shape[static_cast<std::size_t>(d)];
  }
  companion.columns = count / companion.rows;
  companion.samples = 32;
  companion.s2.assign(static_cast<std::size_t>(count),
                      static_cast<float>(record.noise * record.noise));
  companion.total = record.noise * record.noise;
  companion.effective = static_cast<double>(count);
  double squares = 0;
  for (const double value : record.values) {
    squares += value * value;
  }
  // Independent noise of that size projects on the reference with sigma noise / |ref|.
  companion.g.assign(32, squares > 0 ? record.noise / std::sqrt(squares) : 0.0);
  return companion;
}

std::vector<double> values_at(const MadeRecord& record, const Placement& placement) {
  std::vector<double> values;
  for (const Run& run : placement_runs(placement, record.spec.shape)) {
    const auto first = record.values.begin() + run.begin;
    values.insert(values.end(), first, first + run.count);
  }
  return values;
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

MadeCase::MadeCase(const std::string& id)
    : spec(parse_case(id)), reference_id(id), folder_(fresh_folder()) {}

MadeCase::~MadeCase() {
  std::error_code ignored;  // a folder left behind in the temporary directory harms nobody
  std::filesystem::remove_all(folder_, ignored);
}

MadeRecord& MadeCase::add(std::string name, std::vector<std::int64_t> shape,
                          std::vector<double> values) {
  MadeRecord& record = records_.emplace_back();
  record.spec.name = std::move(name);
  record.spec.row_dims = shape.size() > 1 ? 1 : 0;
  record.spec.shape = std::move(shape);
  record.spec.order = std::ssize(records_);
  record.values = std::move(values);
  return record;
}

MadePiece& MadeCase::give(int rank, const std::string& record, Placement placement,
                          std::string shared_over) {
  MadePiece& piece = pieces_.emplace_back();
  piece.rank = rank;
  piece.record = record;
  piece.placement = std::move(placement);
  piece.shared_over = std::move(shared_over);
  return piece;
}

const MadeRecord& MadeCase::find(const std::string& name, int step) const {
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const MadeRecord& record) {
    return record.spec.name == name && record.step == step;
  });
  if (found == records_.end()) {
    throw Error(fmt::format("no record {} in step {}", name, step));
  }
  return *found;
}

void MadeCase::write_reference(const std::filesystem::path& dump) const {
  DumpHeader header;
  header.case_id = reference_id;
  header.level = reference_level;
  DumpWriter writer(dump / rank_file_name(0), header);
  std::vector<RecordRow> rows;
  for (const MadeRecord& record : records_) {
    Piece piece;
    piece.record = record.spec.name;
    piece.phase = record.spec.phase;
    piece.step = record.step;
    piece.order = record.spec.order;
    piece.type = record.spec.type;
    piece.placement = whole(record.spec.shape);
    write_piece(writer, piece, record.values);
    rows.push_back({record.spec, record.step});
  }
  writer.write_records(rows);
  writer.complete();
}

void MadeCase::write_companions_file(const std::filesystem::path& file) const {
  std::vector<Companion> companions;
  for (const MadeRecord& record : records_) {
    if (record.companion && !is_integer(record.spec.type)) {
      companions.push_back(companion_of(record));
    }
  }
  write_companions(file, "fp32", companions);
}

DumpHeader MadeCase::header_of(int rank) const {
  const expect::RankPlace place = expect::place_of(spec, rank);
  DumpHeader header;
  header.case_id = format_case(spec);
  header.world = expect::world_of(spec.mesh);
  header.rank = rank;
  header.dense_coordinate = place.dense;
  header.expert_coordinate = place.expert;
  header.level = level;
  if (edit_header) {
    edit_header(rank, header);
  }
  return header;
}

/// One collective of 8 bytes along every axis of degree above 1.
Ledgers MadeCase::ledgers_of(int rank) const {
  Ledgers ledgers;
  for (const Axis axis : kAxes) {
    if (spec.mesh.degree(axis) > 1) {
      CollectiveRow& row = ledgers.collectives.emplace_back();
      row.axis = axis_name(axis);
      row.group = fmt::format("{}", fmt::join(expect::peers(spec, rank, std::vector{axis}), " "));
      row.bytes = 8;
    }
  }
  if (edit_ledgers) {
    edit_ledgers(rank, ledgers);
  }
  return ledgers;
}

void MadeCase::write_rank(const std::filesystem::path& dump, int rank) const {
  DumpWriter writer(dump / rank_file_name(rank), header_of(rank));
  for (const MadePiece& made : pieces_) {
    if (made.rank != rank) {
      continue;
    }
    const MadeRecord& record = find(made.record, made.step);
    Piece piece;
    piece.record = made.record;
    piece.phase = record.spec.phase;
    piece.step = made.step;
    piece.mb = made.mb;
    piece.order = record.spec.order;
    piece.type = made.type.value_or(record.spec.type);
    piece.placement = made.placement;
    piece.shared_over = made.shared_over;
    piece.computed_in = precision_name(spec.precision);
    if (made.integers) {
      writer.write_integers(piece, *made.integers);
      continue;
    }
    write_piece(writer, piece, made.values ? *made.values : values_at(record, made.placement));
  }
  if (add_local) {
    add_local(rank, writer);
  }
  writer.write_ledgers(ledgers_of(rank));
  if (!contains(torn, rank)) {
    writer.complete();
  }
}

Evidence MadeCase::write() {
  Evidence evidence;
  evidence.spec = spec;
  evidence.level = level;
  evidence.reference = folder_ / "reference";
  evidence.candidate = folder_ / "candidate";
  std::filesystem::create_directory(evidence.reference);
  std::filesystem::create_directory(evidence.candidate);
  write_reference(evidence.reference);
  if (with_companions) {
    evidence.companions = evidence.reference / "companions_fp32.h5";
    write_companions_file(evidence.companions);
  }
  for (int rank = 0; rank < expect::world_of(spec.mesh); ++rank) {
    if (!contains(absent, rank)) {
      write_rank(evidence.candidate, rank);
    }
  }
  return evidence;
}

CaseReport MadeCase::judge() {
  return meshparity::judge(write());
}

const CheckResult& result_of(const CaseReport& report, const std::string& check) {
  return *std::find_if(report.checks.begin(), report.checks.end(),
                       [&](const CheckResult& result) { return result.check == check; });
}

Finding cause_of(const CaseReport& report) {
  const Finding* cause = first_cause(report);
  if (cause == nullptr) {
    throw Error("the report has no finding as grave as its verdict");
  }
  return *cause;
}

std::string findings_text(const CaseReport& report) {
  std::string text;
  for (const CheckResult& result : report.checks) {
    for (const Finding& finding : result.findings) {
      text += fmt::format("{} {} {}: {}\n", verdict_name(finding.gravity), finding.check,
                          finding.record, finding.text);
    }
  }
  return text;
}

}  // namespace meshparity
