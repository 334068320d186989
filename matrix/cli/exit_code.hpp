// What the program's exit code says (contracts.md §4).
#pragma once
#include <vector>

#include "matrix/verdict.hpp"

namespace meshparity {

inline constexpr int kExitConforms = 0;
inline constexpr int kExitDiverges = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInconclusive = 3;

int exit_code(Verdict verdict);
/// Of a whole run: anything that diverges; else anything inconclusive, nothing that ran, or a case
/// that was asked for by id and not run; else all conforms.
int exit_code(const std::vector<CaseReport>& reports, bool asked_and_not_run);

}  // namespace meshparity
