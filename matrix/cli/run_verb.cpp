#include <fmt/format.h>

#include "fixtures/error.hpp"
#include "matrix/cli/chosen_cases.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/progress.hpp"
#include "matrix/cli/run_summary.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/run_relations.hpp"
#include "matrix/this_machine.hpp"
#include "reports/finding_text.hpp"
#include "reports/markdown.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

RunRequest request_of(const RunOptions& options, const ChosenCases& chosen) {
  RunRequest request;
  request.cases = chosen.runnable;
  request.programs = options.programs;
  request.cache = std::filesystem::absolute(options.cases.cache);
  request.models = std::filesystem::absolute(options.cases.models);
  request.text = chosen.text;
  request.jobs = options.jobs > 0 ? options.jobs : core_count();
  request.keep = options.keep;
  request.level = options.level;
  request.time_limit = milliseconds(options.time_limit);
  if (options.budget > 0) {
    request.budget = milliseconds(options.budget);
  }
  request.commit = tree_state(source_folder());
  if (!options.cases.text.empty()) {
    request.replay_options = fmt::format(" --text {}", options.cases.text.string());
  }
  return request;
}

RunPlan plan_of(const RunOptions& options, const RunRequest& request, const ChosenCases& chosen) {
  RunPlan plan;
  plan.command = options.command;
  plan.started = utc_now();
  plan.commit = request.commit;
  plan.cpu = cpu_model();
  plan.cores = core_count();
  plan.level = level_name(request.level);
  plan.text = request.text.string();
  for (const PlannedCase& planned : chosen.runnable) {
    plan.cases.push_back(planned.id);
  }
  for (const PlannedRelation& planned : chosen.relations) {
    plan.relations.push_back(
        {std::string(planned.relation->name), planned.first.id, planned.partner.id});
  }
  plan.excluded = chosen.excluded;
  plan.covers = chosen.covers;
  return plan;
}

std::filesystem::path folder_of(const CaseReport& report, const RunDir& dir) {
  return report.relation.empty()
             ? dir.case_folder(report.case_id)
             : dir.related(fmt::format("{}.{}", report.relation, report.case_id));
}

RunHooks hooks_for(Terminal& terminal, Progress& progress, ResultStore& store, const RunDir& dir) {
  RunHooks hooks;
  hooks.references_begun = [&](std::size_t missing, std::size_t needed) {
    terminal.status(fmt::format("making {} of {} references", missing, needed));
  };
  hooks.references_ended = [&](const ReferencesMade& made) {
    terminal.line(fmt::format("references: {} needed, {} made in {:.1f} s, {} from the cache",
                              made.needed, made.made, made.seconds, made.needed - made.made));
  };
  hooks.begun = [&](const std::string& id) { progress.begun(id); };
  hooks.ended = [&](const CaseReport& report) {
    store.append(report);
    write_report(folder_of(report, dir), report);
    progress.ended(report);
  };
  hooks.note = [&](const std::string& text) { terminal.line("note: " + text); };
  return hooks;
}

// A worker that cannot be started leaves cases inconclusive; without a reference there is nothing
// to begin with.
void require_reference(const std::filesystem::path& program) {
  if (!std::filesystem::is_regular_file(program)) {
    throw UsageError(
        fmt::format("the reference program {} does not exist; build the target "
                    "meshparity-reference, or give --reference PROGRAM",
                    program.string()));
  }
}

// Everything but the printing at the end.
struct FinishedRun {
  ChosenCases chosen;
  RunDir dir;
  RunPlan plan;
  std::vector<CaseReport> reports;
  std::vector<CaseReport> relations;
  double seconds = 0;

  std::vector<CaseReport> all() const {
    std::vector<CaseReport> all = reports;
    all.insert(all.end(), relations.begin(), relations.end());
    return all;
  }
};

void store_excluded(const RunPlan& plan, ResultStore& store) {
  for (const ExcludedCase& excluded : plan.excluded) {
    CaseReport report;
    report.case_id = excluded.id;
    report.not_run = excluded.reason;
    store.append(report);
  }
}

FinishedRun run_chosen(const RunOptions& options, Terminal& terminal) {
  require_reference(options.programs.reference);
  ChosenCases chosen = choose_cases(options.cases);
  const RunRequest request = request_of(options, chosen);
  const RunDir dir =
      options.out.empty() ? RunDir::create_by_time("build/runs") : RunDir::create(options.out);
  RunPlan plan = plan_of(options, request, chosen);
  write_plan(dir.plan(), plan);
  ResultStore store(dir.results());
  const auto begun = std::chrono::steady_clock::now();
  Progress progress(terminal, request.cases.size() + chosen.relations.size());
  const RunHooks hooks = hooks_for(terminal, progress, store, dir);
  auto reports =
      request.cases.empty() ? std::vector<CaseReport>() : run_matrix(request, dir, hooks);
  auto relations = run_relations(request, chosen.relations, dir, hooks);
  store_excluded(plan, store);
  write_markdown(dir);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
  return {std::move(chosen), dir, std::move(plan), std::move(reports), std::move(relations),
          seconds.count()};
}

int close_run(const FinishedRun& run, Terminal& terminal) {
  print_excluded(terminal, run.plan.excluded);
  print_covers(terminal, run.plan.covers);
  terminal.line(fmt::format("\n{} in {:.1f} s; report: {}", describe_tally(tally(run.all())),
                            run.seconds, run.dir.report().string()));
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
