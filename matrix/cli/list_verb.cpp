#include <fmt/format.h>

#include "matrix/cli/chosen_cases.hpp"
#include "matrix/cli/verbs.hpp"

namespace meshparity {

int list_cases(const CaseOptions& options) {
  const ChosenCases chosen = choose_cases(options);
  for (const PlannedCase& planned : chosen.runnable) {
    fmt::print("{}\n", planned.id);
  }
  for (const PlannedRelation& planned : chosen.relations) {
    fmt::print("{} = {} ({})\n", planned.first.id, planned.partner.id, planned.relation->name);
  }
  for (const ExcludedCase& excluded : chosen.excluded) {
    fmt::print("not run: {}: {}\n", excluded.id, excluded.reason);
  }
  for (const CoverSummary& cover : chosen.covers) {
    for (const CoverSummary::Excluded& each : cover.excluded) {
      fmt::print("not covered: {}: {}\n", each.combination, each.reason);
    }
    fmt::print("{}: {}\n", cover.origin, describe_cover(cover));
  }
  const std::string relations =
      chosen.relations.empty() ? "" : fmt::format(", {} relations", chosen.relations.size());
  fmt::print("{} cases{}, {} excluded\n", chosen.runnable.size(), relations,
             chosen.excluded.size());
  return kExitConforms;
}

}  // namespace meshparity
