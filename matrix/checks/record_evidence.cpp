#include "matrix/checks/record_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fixtures/element_type.hpp"
#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

/// A lane below fp64 may store its records in float32; nothing else may change the type.
std::optional<std::string> type_fault(const Piece& piece, const RecordSpec& record,
                                      Precision precision) {
  const bool narrowed = precision != Precision::fp64 && record.type == ElementType::float64 &&
                        piece.type == ElementType::float32;
  if (piece.type != record.type && !narrowed) {
    return fmt::format("element type {}, expected {}", element_type_name(piece.type),
                       element_type_name(record.type));
  }
  if (!meshparity::is_integer(record.type) && piece.computed_in != precision_name(precision)) {
    return fmt::format("computed in {}, expected {}", piece.computed_in, precision_name(precision));
  }
  return std::nullopt;
}

void add_fault(RecordEvidence& record, int rank, std::string text) {
  if (record.faults.empty()) {
    record.fault_rank = rank;
  }
  record.faults.push_back(std::move(text));
}

void place_pieces(const JudgeContext& context, RecordEvidence& record) {
  const CaseSpec& spec = context.evidence.spec;
  for (const auto& [rank, piece] : context.candidate.pieces(record.key())) {
    auto fault = type_fault(*piece, record.row.record, spec.precision);
    if (!fault) {
      fault = placement_fault(piece->placement, record.row.record.shape);
    }
    if (fault) {
      add_fault(record, rank, fmt::format("{}: {}", rank_text(spec, rank), *fault));
    } else {
      record.placed.push_back(
          {rank, piece, placement_runs(piece->placement, record.row.record.shape)});
    }
  }
}

/// All pieces must name the same axes; the first piece's are taken.
void read_shared_axes(const CaseSpec& spec, RecordEvidence& record) {
  if (record.placed.empty()) {
    return;
  }
  const std::string& shared = record.placed.front().piece->shared_over;
  try {
    record.shared_over = expect::axes_named(shared);
  } catch (const UsageError& error) {
    add_fault(record, record.placed.front().rank, error.what());
  }
  for (const PlacedPiece& placed : record.placed) {
    if (placed.piece->shared_over != shared) {
      add_fault(record, placed.rank,
                fmt::format("{} shares it over \"{}\", {} over \"{}\"",
                            rank_text(spec, record.placed.front().rank), shared,
                            rank_text(spec, placed.rank), placed.piece->shared_over));
      return;
    }
  }
}

void form_copies(const CaseSpec& spec, RecordEvidence& record) {
  for (std::vector<int>& coordinate : expect::all_coordinates(spec, record.shared_over)) {
    record.copies.push_back({std::move(coordinate), {}});
  }
  for (const PlacedPiece& placed : record.placed) {
    const auto coordinate = expect::coordinates_on(spec, placed.rank, record.shared_over);
    for (Copy& copy : record.copies) {
      if (copy.coordinate == coordinate) {
        copy.pieces.push_back(&placed);
      }
    }
  }
}

template <class T, class Read>
std::vector<T> assembled_reference(const DumpSet& reference, const RecordRow& row, Read read) {
  const RecordKey key{row.step, row.record.phase, row.record.name};
  std::vector<T> record(static_cast<std::size_t>(elements_of(row.record.shape)));
  std::vector<PlacedPiece> placed;
  for (const auto& [rank, piece] : reference.pieces(key)) {
    if (const auto fault = placement_fault(piece->placement, row.record.shape)) {
      throw UsageError(fmt::format("the reference's {}: {}", record_text(key), *fault));
    }
    placed.push_back({rank, piece, placement_runs(piece->placement, row.record.shape)});
    const std::vector<T> values = read(reference.readers().at(rank), *piece);
    place_values<T>(placed.back().runs, values, record);
  }
  Copy copy;
  for (const PlacedPiece& each : placed) {
    copy.pieces.push_back(&each);
  }
  if (first_violation(copy, static_cast<std::int64_t>(record.size()), {})) {
    throw UsageError(fmt::format(
        "the reference's dump does not hold {} exactly once; make it again", record_text(key)));
  }
  return record;
}

}  // namespace

bool RecordEvidence::is_integer() const {
  return meshparity::is_integer(row.record.type);
}

RecordEvidence gather(const JudgeContext& context, const RecordRow& row,
                      std::vector<std::uint8_t> mask) {
  RecordEvidence record;
  record.row = row;
  record.mask = std::move(mask);
  place_pieces(context, record);
  read_shared_axes(context.evidence.spec, record);
  form_copies(context.evidence.spec, record);
  return record;
}

std::vector<double> reference_values(const DumpSet& reference, const RecordRow& row) {
  return assembled_reference<double>(
      reference, row,
      [](const DumpReader& reader, const Piece& piece) { return reader.read(piece); });
}

std::vector<std::int64_t> reference_integers(const DumpSet& reference, const RecordRow& row) {
  return assembled_reference<std::int64_t>(
      reference, row,
      [](const DumpReader& reader, const Piece& piece) { return reader.read_integers(piece); });
}

std::string check_of(const RecordSpec& record) {
  switch (record.phase) {
    case Phase::forward:
      return record.name == "logits" ? "logits" : "forward";
    case Phase::backward:
      return "backward";
    case Phase::loss:
      return "loss";
    case Phase::grad:
      return "grad";
    case Phase::scalar:
    case Phase::margin:
      return "scalar";
    case Phase::param:
    case Phase::master:
    case Phase::moment1:
    case Phase::moment2:
      return "step";
    case Phase::exact:  // what the forward pass was given, else what the step left behind
      return record.name == "step_count" ? "step" : "forward";
  }
  return "forward";
}

Finding finding_about(const RecordEvidence& record, std::string check) {
  Finding finding;
  finding.check = std::move(check);
  finding.basis = record.basis;
  finding.record = record.row.record.name;
  finding.phase = record.row.record.phase;
  finding.step = record.row.step;
  // Sample ids and random keys are written last, but the whole step depends on them.
  const bool input = finding.phase == Phase::exact && finding.check == "forward";
  finding.order = input ? -1 : record.row.record.order;
  return finding;
}

void add_place(Finding& finding, const CaseSpec& spec, const RecordEvidence& record,
               const Copy& copy, std::int64_t element) {
  finding.index = index_of(element, record.row.record.shape);
  if (const auto owner = owner_of(copy, element)) {
    finding.rank = owner->piece->rank;
    finding.coordinate = expect::place_text(spec, finding.rank);
    finding.piece_index = {owner->place};
    finding.mb = owner->piece->piece->mb;
  }
}

std::string rank_text(const CaseSpec& spec, int rank) {
  return fmt::format("rank {} ({})", rank, expect::place_text(spec, rank));
}

}  // namespace meshparity
