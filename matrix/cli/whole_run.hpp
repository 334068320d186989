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

RunRequest request_of(const RunOptions& options, const ChosenCases& chosen);
RunPlan plan_of(const RunOptions& options, const RunRequest& request, const ChosenCases& chosen);
/// Throws UsageError when the folder cannot be the run's.
RunDir open_folder(const RunOptions& options);
/// Throws UsageError when there is no reference program: without one there is nothing to begin
/// with.
void require_reference(const std::filesystem::path& program);
/// report.md and junit.xml, from what the run stored.
void render(const RunDir& dir, const RunPlan& plan);

/// Throws UsageError for what the user got wrong, before anything is written.
FinishedRun run_chosen(const RunOptions& options, Terminal& terminal);

}  // namespace meshparity
