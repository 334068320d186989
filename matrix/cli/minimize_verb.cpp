#include <fmt/format.h>

#include <optional>

#include "fixtures/error.hpp"
#include "matrix/cli/verbs.hpp"
#include "matrix/cli/whole_run.hpp"
#include "matrix/minimize.hpp"
#include "matrix/mpi_start.hpp"
#include "reports/finding_text.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

/// Runs one case after the other, all in one folder of results.
class CaseRuns {
 public:
  CaseRuns(const RunOptions& options, ChosenCases start)
      : options_(options),
        start_(std::move(start)),
        source_{{}, options.cases.models, [] { return std::string(); }},
        planner_(source_),
        dir_(open_folder(options)),
        store_(dir_.results()) {}

  bool is_legal(const CaseSpec& spec) {
    try {
      return planner_.plan(spec).excluded.empty() &&
             why_not_started(spec.machine, options_.programs.worker).empty();
    } catch (const UsageError&) {  // no such model, or no such id
      return false;
    }
  }

  Sighting look(const CaseSpec& spec) {
    ChosenCases one;
    one.runnable = {planner_.plan(spec)};
    one.text = spec.text_hash.empty() ? std::filesystem::path() : start_.text;
    RunRequest request = request_of(options_, one);
    request.second_runs = false;
    CaseReport report = run_matrix(request, dir_, hooks()).at(0);
    store_.append(report);
    ids_.push_back(report.case_id);
    const Sighting sighting = sighting_of(report);
    reports_.emplace(report.case_id, std::move(report));
    return sighting;
  }

  const CaseReport& report(const std::string& id) const { return reports_.at(id); }
  /// The folder is one of a run, so that its reports can be rendered.
  void close() const {
    ChosenCases all;
    RunPlan plan = plan_of(options_, request_of(options_, start_), all);
    plan.cases = ids_;
    write_plan(dir_.plan(), plan);
    render(dir_, plan);
  }
  const RunDir& dir() const { return dir_; }

 private:
  RunHooks hooks() {
    RunHooks hooks;
    hooks.references_begun = [](std::size_t, std::size_t) {};
    hooks.references_ended = [](const ReferencesMade&) {};
    hooks.begun = [](const std::string&) {};
    hooks.ended = [](const CaseReport&) {};
    hooks.note = [](const std::string& text) { fmt::print("note: {}\n", text); };
    return hooks;
  }

  const RunOptions& options_;
  ChosenCases start_;
  CaseSource source_;
  CasePlanner planner_;
  RunDir dir_;
  ResultStore store_;
  std::vector<std::string> ids_;
  std::map<std::string, CaseReport> reports_;
};

/// "tp2 and sp together", "mb2 and dropout (a default) together", "mb2".
std::string what_it_needs(const Minimized& found) {
  std::vector<std::string> words = found.interacting;
  for (const std::string& word : found.defaults) {
    words.push_back(word + " (a default)");
  }
  if (words.size() < 2) {
    return words.empty() ? "" : words.front();
  }
  const std::string last = words.back();
  words.pop_back();
  return fmt::format("{} and {} together", fmt::join(words, ", "), last);
}

std::string how_sure(const Minimized& found) {
  if (!found.complete) {
    return "too few to try everything: --runs N";
  }
  return found.undecided == 0
             ? "no single thing can be taken away"
             : fmt::format("{} of them inconclusive: it may not be the smallest", found.undecided);
}

void print_found(Terminal& terminal, const Minimized& found, const CaseReport& report) {
  const std::string id = format_case(found.smallest);
  terminal.line(fmt::format("\nsmallest case that diverges alike: {}", terminal.bold(id)));
  for (const std::string& line : describe_finding(*first_cause(report))) {
    terminal.line("  " + line);
  }
  const std::string needs = what_it_needs(found);
  terminal.line(needs.empty() ? "it needs nothing but one process"
                              : "it diverges only with " + needs);
  terminal.line("again: " + report.replay);
}

}  // namespace

int minimize_case(const MinimizeOptions& options) {
  Terminal terminal(options.run.color);
  ChosenCases start = choose_cases(options.run.cases);
  if (start.runnable.empty()) {
    const ExcludedCase& excluded = start.excluded.at(0);
    throw UsageError(fmt::format("{} cannot run: {}", excluded.id, excluded.reason));
  }
  require_reference(options.run.programs.reference);
  const CaseSpec spec = start.runnable.front().spec;
  CaseRuns runs(options.run, std::move(start));
  const MinimizeOracle oracle{
      [&](const CaseSpec& asked) { return runs.is_legal(asked); },
      [&](const CaseSpec& asked) { return runs.look(asked); },
      [&](const MinimizeStep& step) {
        terminal.line(fmt::format("{}  {:<9}  {:<18}  {}  {}",
                                  terminal.verdict_word(verdict_name(step.sighting.verdict), 12),
                                  step.alike ? "alike" : "not alike", step.change, step.id,
                                  step.sighting.cause));
      }};
  const Minimized found = minimize(spec, oracle, options.runs);
  runs.close();
  print_found(terminal, found, runs.report(format_case(found.smallest)));
  terminal.line(fmt::format("{} of at most {} runs; {}; dumps: {}", found.runs, options.runs,
                            how_sure(found), runs.dir().root().string()));
  return found.complete && found.undecided == 0 ? kExitConforms : kExitInconclusive;
}

}  // namespace meshparity
