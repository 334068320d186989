// Which cases a selection means: suites crossed out into case ids, filtered, each legal or excluded
// with its reason.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/case_planner.hpp"
#include "matrix/cover_cases.hpp"
#include "matrix/relations.hpp"
#include "matrix/suite.hpp"

namespace meshparity {

/// What the user asked for: case ids, or a suite; `only` filters either by globs on the ids. With
/// relations the ids are first cases of these relations.
struct Selection {
  std::string suite;              // name or path; not read when there are ids
  std::vector<std::string> only;  // a case is kept that matches any; empty keeps all
  std::vector<std::string> ids;
  std::vector<std::string> relations = {};  // only with ids
};

/// One exact relation between two runs: equal records are demanded, no limits are asked.
struct PlannedRelation {
  const Relation* relation = nullptr;
  PlannedCase first;  // at level all
  PlannedCase partner;
  Level partner_level = Level::all;
  bool again = false;    // the partner is the first case once more
  std::string excluded;  // why it cannot be asked; empty when it can
};

struct Enumeration {
  std::vector<PlannedCase> cases;
  std::vector<PlannedRelation> relations;
  std::vector<CoverSummary> covers;
};

/// In stable order, each id once, each relation of an id once. Throws UsageError: a text that is no
/// case id and a name that is no relation (with the place in the suite), an unknown model, a
/// selection that matches nothing.
Enumeration enumerate(const Selection& selection, const CaseSource& source);

/// Shell globs: * any text, ? one character, [...] one of those.
bool matches_glob(std::string_view text, const std::string& glob);

}  // namespace meshparity
