// A run from its options to its last result: new, a shard, or an interrupted one that goes on.
#pragma once
#include <vector>

#include "matrix/cli/chosen_cases.hpp"
#include "matrix/cli/terminal.hpp"
#include "matrix/run_dir.hpp"

namespace meshparity {

/// Everything but the printing at the end. Reports stand in the plan's order.
struct FinishedRun {
  ChosenCases chosen;
  RunDir dir;
  RunPlan plan;
  std::vector<CaseReport> reports;
  std::vector<CaseReport> relations;
  std::size_t resumed = 0;  // results that an interrupted run had left
  double seconds = 0;

  std::vector<CaseReport> all() const;
};

/// Throws UsageError for what the user got wrong, before anything is written.
FinishedRun run_chosen(const RunOptions& options, Terminal& terminal);

}  // namespace meshparity
