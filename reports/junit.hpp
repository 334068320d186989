// The report of a run as JUnit XML: one suite a case, one testcase a check (contracts.md §4).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "matrix/run_dir.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// Diverges is a failure, inconclusive an error, not run and no evidence are skipped. A case of the
/// plan without a result is an error: the run was interrupted.
std::string render_junit(const RunPlan& plan, const std::vector<CaseReport>& reports);

/// Throws Error when the file cannot be written.
void write_junit(const std::filesystem::path& file, const RunPlan& plan,
                 const std::vector<CaseReport>& reports);

}  // namespace meshparity
