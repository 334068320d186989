// The exact relations of contracts.md §6 as data: one row says which case must equal which other,
// and in which records. Equality is == on every element.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/record_table.hpp"
#include "matrix/dump_set.hpp"

namespace meshparity {

/// One run that a relation speaks of.
struct RelatedRun {
  CaseSpec spec;
  Level level = Level::all;
  bool again = false;  // the same case a second time
};

struct Relation {
  std::string_view name;   // "rank_order"
  std::string_view claim;  // for people
  /// The run that a case at level all must equal; nothing where the row says nothing of the case.
  std::optional<RelatedRun> (*partner)(const CaseSpec& spec);
  /// Whether the row speaks of a record, given the records of a step.
  bool (*selects)(const RecordSpec& record, const std::vector<RecordSpec>& table);
  bool first_step_only = false;
  bool measured = false;  // the distance is told, equality is not demanded
};

std::span<const Relation> relation_table();
/// Throws UsageError listing the names that exist.
const Relation& find_relation(std::string_view name);

/// Whether two dumps are to be equal in that record; false for one that the table does not hold.
bool selects(const Relation& relation, const std::vector<RecordSpec>& table, const RecordKey& key);

}  // namespace meshparity
