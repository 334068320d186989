// The verbs. Each prints its result to standard output and returns the exit code (contracts.md §4),
// but throws UsageError for what the user got wrong.
#pragma once
#include "matrix/cli/exit_code.hpp"
#include "matrix/cli/options.hpp"

namespace meshparity {

int list_cases(const CaseOptions& options);
int run_cases(const RunOptions& options);
/// One case, at level all; `options.cases.selection.ids` holds its id.
int replay_case(const RunOptions& options);
/// `options.run.cases.selection.ids` holds the id. 0: found; 3: the runs did not suffice
/// or some were inconclusive.
int minimize_case(const MinimizeOptions& options);
/// Renders again what runs stored; several folders are shards of one run and are merged into `out`.
int report_runs(const ReportOptions& options);
int compare(const CompareVerb& options);
int doctor(const CaseOptions& options);

}  // namespace meshparity
