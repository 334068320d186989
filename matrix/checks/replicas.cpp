#include "matrix/checks/replicas.hpp"

#include <fmt/format.h>

#include <limits>

#include "matrix/checks/value_place.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

std::vector<double> read_piece(const JudgeContext& context, const PlacedPiece& placed, double) {
  return context.candidate.readers().at(placed.rank).read(*placed.piece);
}
std::vector<std::int64_t> read_piece(const JudgeContext& context, const PlacedPiece& placed,
                                     std::int64_t) {
  return context.candidate.readers().at(placed.rank).read_integers(*placed.piece);
}

/// Where a later copy first differs from the first one.
template <class T>
struct Disagreement {
  std::int64_t element = 0;
  const PlacedPiece* piece = nullptr;
  T held{};
};

/// Elements that a mask leaves out may be held by one copy and not by another.
template <class T>
void forget_undemanded(const RecordEvidence& record, std::span<const Run> runs,
                       std::span<const T> first, std::vector<T>& values) {
  std::size_t at = 0;
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i, ++at) {
      if (!record.is_demanded(run.begin + i)) {
        values[at] = first[static_cast<std::size_t>(run.begin + i)];
      }
    }
  }
}

template <class T>
std::optional<Disagreement<T>> first_disagreement(const JudgeContext& context,
                                                  const RecordEvidence& record, const Copy& copy,
                                                  std::span<const T> first_copy) {
  std::optional<Disagreement<T>> first;
  for (const PlacedPiece* placed : copy.pieces) {
    std::vector<T> values = read_piece(context, *placed, T{});
    if (!record.mask.empty()) {
      forget_undemanded<T>(record, placed->runs, first_copy, values);
    }
    const auto element = first_unequal_bits<T>(placed->runs, values, first_copy);
    if (element && (!first || *element < first->element)) {
      const auto place = static_cast<std::size_t>(place_in_runs(placed->runs, *element));
      first = Disagreement<T>{*element, placed, values[place]};
    }
  }
  return first;
}

template <class T>
Finding disagreement_finding(const JudgeContext& context, const RecordEvidence& record,
                             const Disagreement<T>& found, T first_value) {
  const CaseSpec& spec = context.evidence.spec;
  Finding finding = finding_about(record, "replicas");
  finding.rank = found.piece->rank;
  finding.coordinate = expect::place_text(spec, found.piece->rank);
  finding.mb = found.piece->piece->mb;
  finding.index = index_of(found.element, record.row.record.shape);
  finding.piece_index = {place_in_runs(found.piece->runs, found.element)};
  add_values(finding, static_cast<double>(first_value), static_cast<double>(found.held),
             context.lane ? context.lane->mantissa_bits : kDoubleMantissa);
  finding.ratio = std::numeric_limits<double>::infinity();
  const auto owner = owner_of(record.copies.front(), found.element);
  const std::string first_rank = owner ? rank_text(spec, owner->piece->rank) : "no rank";
  finding.text =
      fmt::format("copies differ at {}: {} holds {}, {} holds {}", index_text(finding.index),
                  first_rank, first_value, rank_text(spec, found.piece->rank), found.held);
  finding.derivation = "copies of one record are equal bit for bit";
  return finding;
}

template <class T>
std::vector<T> compare_copies(const JudgeContext& context, const RecordEvidence& record,
                              CheckResult& result) {
  std::vector<T> values(static_cast<std::size_t>(record.elements()));
  for (const PlacedPiece* placed : record.copies.front().pieces) {
    const std::vector<T> piece = read_piece(context, *placed, T{});
    place_values<T>(placed->runs, piece, values);
  }
  bool differs = false;
  for (std::size_t c = 1; c < record.copies.size(); ++c) {
    result.compared += record.elements();
    const auto found = first_disagreement<T>(context, record, record.copies[c], values);
    if (found && !differs) {
      differs = true;
      const T first_value = values[static_cast<std::size_t>(found->element)];
      result.findings.push_back(disagreement_finding<T>(context, record, *found, first_value));
    }
  }
  return values;
}

}  // namespace

std::vector<double> check_replicas(const JudgeContext& context, const RecordEvidence& record,
                                   CheckResult& result) {
  return compare_copies<double>(context, record, result);
}

std::vector<std::int64_t> check_integer_replicas(const JudgeContext& context,
                                                 const RecordEvidence& record,
                                                 CheckResult& result) {
  return compare_copies<std::int64_t>(context, record, result);
}

}  // namespace meshparity
