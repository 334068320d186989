#include "matrix/checks/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "matrix/checks/owners.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

constexpr const char* kCheck = "coverage";

void add_file_finding(const CaseSpec& spec, int rank, std::string text, CheckResult& result) {
  Finding finding;
  finding.check = kCheck;
  finding.rank = rank;
  finding.coordinate = expect::place_text(spec, rank);
  finding.text = std::move(text);
  result.findings.push_back(std::move(finding));
}

std::string coordinates_text(const expect::Place& place) {
  return fmt::format("[{}]", fmt::join(place, " "));
}

/// What the header says that matrix's formula does not; empty when they agree.
std::string header_fault(const CaseSpec& spec, int rank, const DumpHeader& header) {
  const int world = expect::world_of(spec.mesh);
  if (header.rank != rank || header.world != world) {
    return fmt::format("{} says rank {} of {}, expected rank {} of {}", rank_file_name(rank),
                       header.rank, header.world, rank, world);
  }
  const expect::RankPlace place = expect::place_of(spec, rank);
  if (header.dense_coordinate != place.dense || header.expert_coordinate != place.expert) {
    return fmt::format(
        "{} says coordinate dense {} expert {}, expected dense {} expert {} (dp tp pp cp ep etp)",
        rank_text(spec, rank), coordinates_text(header.dense_coordinate),
        coordinates_text(header.expert_coordinate), coordinates_text(place.dense),
        coordinates_text(place.expert));
  }
  return "";
}

/// The finding that explains the record's, when a whole file is missing.
void add_record_finding(Finding finding, CheckResult& result) {
  if (!result.findings.empty() && result.findings.front().record.empty()) {
    finding.follows_from = fmt::format("coverage {}", result.findings.front().text);
  }
  result.findings.push_back(std::move(finding));
}

std::string copy_text(const RecordEvidence& record, const Copy& copy) {
  std::string text;
  for (std::size_t i = 0; i < record.shared_over.size(); ++i) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", axis_name(record.shared_over[i]),
                        copy.coordinate[i]);
  }
  return text.empty() ? "all ranks" : text;
}

std::vector<int> ranks_without_piece(const JudgeContext& context, const RecordEvidence& record) {
  std::set<int> holders;
  for (const HeldPiece& held : context.candidate.pieces(record.key())) {
    holders.insert(held.rank);
  }
  std::vector<int> missing;
  for (int rank = 0; rank < expect::world_of(context.evidence.spec.mesh); ++rank) {
    if (!holders.contains(rank) && must_hold(context, record.row.record, rank)) {
      missing.push_back(rank);
    }
  }
  return missing;
}

bool check_holders(const JudgeContext& context, const RecordEvidence& record, CheckResult& result) {
  const std::vector<int> missing = ranks_without_piece(context, record);
  if (missing.empty()) {
    return true;
  }
  const CaseSpec& spec = context.evidence.spec;
  const bool all = context.candidate.pieces(record.key()).empty();
  Finding finding = finding_about(record, kCheck);
  finding.rank = missing.front();
  finding.coordinate = expect::place_text(spec, missing.front());
  finding.text =
      all ? "the record is missing: no rank wrote a piece"
          : fmt::format(
                "no piece from {}{}", rank_text(spec, missing.front()),
                missing.size() > 1 ? fmt::format(" and {} more ranks", missing.size() - 1) : "");
  add_record_finding(std::move(finding), result);
  return false;
}

Finding violation_finding(const JudgeContext& context, const RecordEvidence& record,
                          const Copy& copy, const Violation& found) {
  const CaseSpec& spec = context.evidence.spec;
  Finding finding = finding_about(record, kCheck);
  finding.index = index_of(found.element, record.row.record.shape);
  const std::string where =
      fmt::format("{} in the copy of {}", index_text(finding.index), copy_text(record, copy));
  if (found.kind == Violation::Kind::hole) {
    finding.text =
        fmt::format("hole of {} elements from {}: no rank holds them", found.count, where);
    return finding;
  }
  finding.rank = found.second->rank;
  finding.coordinate = expect::place_text(spec, found.second->rank);
  finding.mb = found.second->piece->mb;
  finding.text =
      fmt::format("overlap of {} elements from {}: {} (mb {}) and {} (mb {}) hold them",
                  found.count, where, rank_text(spec, found.first->rank), found.first->piece->mb,
                  rank_text(spec, found.second->rank), found.second->piece->mb);
  return finding;
}

bool check_copies(const JudgeContext& context, const RecordEvidence& record, CheckResult& result) {
  for (const Copy& copy : record.copies) {
    if (const auto found = first_violation(copy, record.elements(), record.mask)) {
      add_record_finding(violation_finding(context, record, copy, *found), result);
      return false;
    }
  }
  return true;
}

bool check_pieces(const JudgeContext& context, const RecordEvidence& record, CheckResult& result) {
  if (record.faults.empty()) {
    return true;
  }
  Finding finding = finding_about(record, kCheck);
  finding.rank = record.fault_rank;
  finding.coordinate = expect::place_text(context.evidence.spec, record.fault_rank);
  finding.text = record.faults.front();
  if (record.faults.size() > 1) {
    finding.text += fmt::format(" (and {} more)", record.faults.size() - 1);
  }
  add_record_finding(std::move(finding), result);
  return false;
}

}  // namespace

void check_files(const JudgeContext& context, CheckResult& result) {
  const CaseSpec& spec = context.evidence.spec;
  const int world = expect::world_of(spec.mesh);
  for (const DumpSet::Unreadable& file : context.candidate.unreadable()) {
    add_file_finding(spec, file.rank, file.what, result);
  }
  const auto& readers = context.candidate.readers();
  for (int rank = 0; rank < world; ++rank) {
    const auto& torn = context.candidate.unreadable();
    const bool listed =
        std::any_of(torn.begin(), torn.end(), [&](const auto& file) { return file.rank == rank; });
    if (!readers.contains(rank) && !listed) {
      add_file_finding(spec, rank, fmt::format("{} is missing", rank_file_name(rank)), result);
    }
  }
  for (const auto& [rank, reader] : readers) {
    const std::string fault = rank < world ? header_fault(spec, rank, reader.header())
                                           : fmt::format("{} is beyond the world of {} ranks",
                                                         rank_file_name(rank), world);
    if (!fault.empty()) {
      add_file_finding(spec, rank, fault, result);
    }
  }
}

bool check_coverage(const JudgeContext& context, const RecordEvidence& record,
                    CheckResult& result) {
  for (const PlacedPiece& placed : record.placed) {
    result.compared += element_count(placed.piece->placement);
  }
  return check_pieces(context, record, result) && check_holders(context, record, result) &&
         check_copies(context, record, result);
}

void check_unknown(const JudgeContext& context, const std::vector<RecordRow>& rows,
                   CheckResult& result) {
  std::set<RecordKey> known;
  for (const RecordRow& row : rows) {
    known.insert({row.step, row.record.phase, row.record.name});
  }
  for (const auto& [key, pieces] : context.candidate.records()) {
    if (!known.contains(key)) {
      Finding finding;
      finding.check = kCheck;
      finding.record = key.record;
      finding.phase = key.phase;
      finding.step = key.step;
      finding.rank = pieces.front().rank;
      finding.coordinate = expect::place_text(context.evidence.spec, finding.rank);
      finding.text = "the reference has no such record";
      result.findings.push_back(std::move(finding));
    }
  }
}

}  // namespace meshparity
