// What `run` prints at its end: the table of layouts, each diverging case explained, the margins,
// what was excluded.
#pragma once
#include <vector>

#include "matrix/cli/terminal.hpp"
#include "matrix/run_dir.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

void print_table(Terminal& terminal, const std::vector<CaseReport>& reports);
/// Reports of exact relations.
void print_relations(Terminal& terminal, const std::vector<CaseReport>& reports);
/// The first cause of each case that does not conform, and how to see it again.
void print_causes(Terminal& terminal, const std::vector<CaseReport>& reports);
/// Every check of one case: verdict, elements compared, findings, notes.
void print_checks(Terminal& terminal, const CaseReport& report);
void print_margins(Terminal& terminal, const std::vector<CaseReport>& reports);
/// What each cover reached; combinations that no case can hold are counted by their reason.
void print_covers(Terminal& terminal, const std::vector<CoverSummary>& covers);
void print_excluded(Terminal& terminal, const std::vector<ExcludedCase>& excluded);

}  // namespace meshparity
