#include <fmt/format.h>

#include "matrix/cli/chosen_cases.hpp"
#include "matrix/cli/verbs.hpp"

namespace meshparity {

int list_cases(const CaseOptions& options) {
  const ChosenCases chosen = choose_cases(options);
  for (const PlannedCase& planned : chosen.runnable) {
    fmt::print("{}\n", planned.id);
  }
  for (const PlannedCase& planned : chosen.excluded) {
    fmt::print("not run: {}: {}\n", planned.id, planned.excluded);
  }
  fmt::print("{} cases, {} excluded\n", chosen.runnable.size(), chosen.excluded.size());
  return kExitConforms;
}

}  // namespace meshparity
