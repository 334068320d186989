#include <fmt/format.h>

#include "matrix/cli/run_summary.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/cli/whole_run.hpp"
#include "reports/finding_text.hpp"

namespace meshparity {
namespace {

int close_run(const FinishedRun& run, Terminal& terminal) {
  print_excluded(terminal, run.plan.excluded);
  print_covers(terminal, run.plan.covers);
  const std::string resumed =
      run.resumed > 0 ? fmt::format(" ({} from before)", run.resumed) : std::string();
  terminal.line(fmt::format("\n{}{} in {:.1f} s; report: {}", describe_tally(tally(run.all())),
                            resumed, run.seconds, run.dir.report().string()));
  return exit_code(run.all(), run.chosen.asked_by_id && !run.chosen.excluded.empty());
}

}  // namespace

int run_cases(const RunOptions& options) {
  Terminal terminal(options.color);
  const FinishedRun run = run_chosen(options, terminal);
  print_table(terminal, run.reports);
  print_relations(terminal, run.relations);
  print_causes(terminal, run.all());
  print_margins(terminal, run.reports);
  return close_run(run, terminal);
}

int replay_case(const RunOptions& options) {
  RunOptions all = options;
  all.level = Level::all;
  all.keep = Keep::all;
  Terminal terminal(options.color);
  const FinishedRun run = run_chosen(all, terminal);
  for (const CaseReport& report : run.reports) {
    print_checks(terminal, report);
    print_causes(terminal, {report});
    terminal.line(fmt::format("\ndumps at level all: {}", run.dir.dump(report.case_id).string()));
  }
  return close_run(run, terminal);
}

}  // namespace meshparity
