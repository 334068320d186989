// From the command line's words to cases that can run and cases that cannot, with everything
// refused that must be before anything runs.
#pragma once
#include <vector>

#include "matrix/cli/options.hpp"
#include "matrix/run_dir.hpp"

namespace meshparity {

struct ChosenCases {
  std::vector<PlannedCase> runnable;
  std::vector<PlannedRelation> relations;
  std::vector<ExcludedCase> excluded;
  std::vector<CoverSummary> covers;
  std::filesystem::path text;  // empty when no runnable case reads one
  bool asked_by_id = false;
};

/// Throws UsageError: enumerate()'s, an unknown fault (listing those that exist), a text of another
/// hash than a case names.
ChosenCases choose_cases(const CaseOptions& options);

}  // namespace meshparity
