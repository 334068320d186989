// What a candidate holds of one record of one step, laid out for the checks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "matrix/assemble.hpp"
#include "matrix/bound.hpp"
#include "matrix/judge.hpp"

namespace meshparity {

class RebasedReference;

/// All that the checks of one case share.
struct JudgeContext {
  const Evidence& evidence;
  const DumpSet& reference;
  const DumpSet& candidate;
  const CompanionReader* companions = nullptr;  // null: no limits
  std::optional<Lane> lane;
  const RebasedReference* rebased = nullptr;  // null: no rebased steps and no laws
  const CompanionReader* payload = nullptr;   // of cases whose gradients travel rounded
};

/// Pieces point into `placed`, so it is moved, never copied.
struct RecordEvidence {
  RecordEvidence() = default;
  RecordEvidence(RecordEvidence&&) = default;
  RecordEvidence& operator=(RecordEvidence&&) = default;

  RecordRow row;
  std::vector<PlacedPiece> placed;
  std::vector<Axis> shared_over;
  std::vector<Copy> copies;         // one a coordinate on shared_over; some may be empty
  std::vector<std::uint8_t> mask;   // empty: every element is demanded
  std::vector<std::string> faults;  // what is wrong with single pieces; those are not in `placed`
  int fault_rank = -1;              // of the first fault
  Basis basis = Basis::reference;   // of what the record is compared with

  RecordKey key() const { return {row.step, row.record.phase, row.record.name}; }
  std::int64_t elements() const { return elements_of(row.record.shape); }
  bool is_integer() const;
  bool is_demanded(std::int64_t element) const {
    return mask.empty() || mask[static_cast<std::size_t>(element)] != 0;
  }
};

/// A record's values on both sides, over its global shape.
struct RecordValues {
  std::vector<double> reference;
  std::vector<double> candidate;
};

/// Places every piece of the record and forms its copies. `mask` as in RecordEvidence.
RecordEvidence gather(const JudgeContext& context, const RecordRow& row,
                      std::vector<std::uint8_t> mask);

/// The reference's values of a record; throws UsageError when its dump does not hold it once.
std::vector<double> reference_values(const DumpSet& reference, const RecordRow& row);
std::vector<std::int64_t> reference_integers(const DumpSet& reference, const RecordRow& row);

/// "forward", "logits", ...: the check that compares a record.
std::string check_of(const RecordSpec& record);
/// A finding about a record, its place in the execution filled in.
Finding finding_about(const RecordEvidence& record, std::string check);
/// Adds index, rank, coordinate, piece and micro-batch of an element of the copy.
void add_place(Finding& finding, const CaseSpec& spec, const RecordEvidence& record,
               const Copy& copy, std::int64_t element);
/// "rank 3 (dp1 tp0)"
std::string rank_text(const CaseSpec& spec, int rank);

}  // namespace meshparity
