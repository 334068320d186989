// The verbs. Each prints its result to standard output and returns the exit code (contracts.md §4),
// but throws UsageError for what the user got wrong.
#pragma once
#include "matrix/cli/options.hpp"

namespace meshparity {

inline constexpr int kExitConforms = 0;
inline constexpr int kExitDiverges = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInconclusive = 3;

int list_cases(const CaseOptions& options);
int run_cases(const RunOptions& options);
/// One case, at level all; `options.cases.selection.ids` holds its id.
int replay_case(const RunOptions& options);
int compare(const CompareVerb& options);
int doctor(const CaseOptions& options);

int exit_code(Verdict verdict);

}  // namespace meshparity
