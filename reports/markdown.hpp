// The report of a run as one Markdown page: a table of its cases, a section for each that does not
// conform, the margins, what was excluded.
#pragma once
#include <string>
#include <vector>

#include "matrix/run_dir.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// Rendered from what the run stored: its plan and its results. Cases stand in the plan's order; a
/// case of the plan without a result is shown as such (the run was interrupted).
std::string render_markdown(const RunPlan& plan, const std::vector<CaseReport>& reports);

/// Reads plan.json and results.jsonl of a run and writes report.md beside them.
void write_markdown(const RunDir& dir);

}  // namespace meshparity
