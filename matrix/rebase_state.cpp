#include "matrix/rebase_state.hpp"

#include <optional>

#include "fixtures/error.hpp"
#include "matrix/checks/record_evidence.hpp"
#include "matrix/rebase_contributions.hpp"

namespace meshparity {
namespace {

bool is_of_state(const RecordSpec& record, Level level) {
  switch (record.phase) {
    case Phase::param:
    case Phase::master:
    case Phase::moment1:
    case Phase::moment2:
    case Phase::grad:
    case Phase::loss:
    case Phase::scalar:
      return true;
    case Phase::exact:
      return record.name == "step_count";
    case Phase::forward:
      return level == Level::all;  // inputs of operations, for their laws
    case Phase::backward:
    case Phase::margin:
      return false;
  }
  return false;
}

class StateWriter {
 public:
  StateWriter(const JudgeContext& context, DumpWriter& writer)
      : context_(context), writer_(writer) {}

  void write(const RecordRow& row) {
    const RecordEvidence record = gather(context_, row, {});
    if (record.copies.empty() || !record.faults.empty() ||
        first_violation(record.copies.front(), record.elements(), {})) {
      return;
    }
    try {
      if (record.is_integer()) {
        writer_.write_integers(piece_of(record), assembled<std::int64_t>(record));
      } else {
        writer_.write(piece_of(record), assembled<double>(record));
        write_contributions(context_, record, writer_);
      }
    } catch (const Error&) {
      // A piece that cannot be read is a finding of the judge's, who reads it as well.
    }
  }

 private:
  template <class T>
  std::vector<T> assembled(const RecordEvidence& record) const {
    std::vector<T> values(static_cast<std::size_t>(record.elements()));
    for (const PlacedPiece* placed : record.copies.front().pieces) {
      const DumpReader& reader = context_.candidate.readers().at(placed->rank);
      if constexpr (std::is_integral_v<T>) {
        place_values<T>(placed->runs, reader.read_integers(*placed->piece), values);
      } else {
        place_values<T>(placed->runs, reader.read(*placed->piece), values);
      }
    }
    return values;
  }

  static Piece piece_of(const RecordEvidence& record) {
    Piece piece;
    piece.record = record.row.record.name;
    piece.phase = record.row.record.phase;
    piece.step = record.row.step;
    piece.order = record.row.record.order;
    piece.type = record.row.record.type;
    piece.placement = whole(record.row.record.shape);
    return piece;
  }

  const JudgeContext& context_;
  DumpWriter& writer_;
};

}  // namespace

void write_state(const CaseSpec& spec, const DumpSet& reference, const DumpSet& candidate,
                 const std::filesystem::path& file) {
  Evidence evidence;
  evidence.spec = spec;
  const JudgeContext context{evidence, reference, candidate, nullptr, std::nullopt};
  const auto& readers = candidate.readers();
  const Level level = readers.empty() ? Level::standard : readers.begin()->second.header().level;
  DumpHeader header;
  header.case_id = format_case(spec);
  DumpWriter writer(file, header);
  StateWriter state(context, writer);
  for (const auto& [rank, reader] : reference.readers()) {
    for (const RecordRow& row : reader.records()) {
      if (is_of_state(row.record, level)) {
        state.write(row);
      }
    }
  }
  writer.complete();
}

}  // namespace meshparity
