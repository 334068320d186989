#include "matrix/cli/whole_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fixtures/error.hpp"
#include "matrix/cli/installation.hpp"
#include "matrix/cli/progress.hpp"
#include "matrix/cli/run_content.hpp"
#include "matrix/run_relations.hpp"
#include "matrix/this_machine.hpp"
#include "reports/junit.hpp"
#include "reports/markdown.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

std::filesystem::path folder_of(const CaseReport& report, const RunDir& dir) {
  return report.relation.empty()
             ? dir.case_folder(report.case_id)
             : dir.related(fmt::format("{}.{}", report.relation, report.case_id));
}

/// By relation and first case, or "" and case.
using Contents = std::map<std::pair<std::string, std::string>, std::string>;

Contents contents_of(const ChosenCases& chosen, const RunOptions& options) {
  const RunContent content(options.programs, this_program(), options.level, !options.once);
  Contents contents;
  for (const PlannedCase& planned : chosen.runnable) {
    contents[{"", planned.id}] = content.of(planned);
  }
  for (const PlannedRelation& planned : chosen.relations) {
    contents[{std::string(planned.relation->name), planned.first.id}] = content.of(planned);
  }
  return contents;
}

struct RunSinks {
  Terminal& terminal;
  Progress& progress;
  ResultStore& store;
};

RunHooks hooks_for(RunSinks sinks, const Contents& contents, const RunDir& dir) {
  RunHooks hooks;
  hooks.references_begun = [sinks](std::size_t missing, std::size_t needed) {
    sinks.terminal.status(fmt::format("making {} of {} references", missing, needed));
  };
  hooks.references_ended = [sinks](const ReferencesMade& made) {
    sinks.terminal.line(fmt::format("references: {} needed, {} made in {:.1f} s, {} from the cache",
                                    made.needed, made.made, made.seconds, made.needed - made.made));
  };
  hooks.begun = [sinks](const std::string& id) { sinks.progress.begun(id); };
  hooks.ended = [sinks, &contents, &dir](const CaseReport& ended) {
    CaseReport report = ended;
    report.content = contents.at({report.relation, report.case_id});
    sinks.store.append(report);
    write_report(folder_of(report, dir), report);
    sinks.progress.ended(report);
  };
  hooks.note = [sinks](const std::string& text) { sinks.terminal.line("note: " + text); };
  return hooks;
}

void store_excluded(const RunPlan& plan, ResultStore& store) {
  for (const ExcludedCase& excluded : plan.excluded) {
    CaseReport report;
    report.case_id = excluded.id;
    report.not_run = excluded.reason;
    store.append(report);
  }
}

/// Results of an interrupted run that still hold, by relation and case.
using Known = std::map<std::pair<std::string, std::string>, CaseReport>;

Known known_results(const RunDir& dir, const Contents& contents) {
  Known known;
  for (CaseReport& report : read_results(dir.results())) {
    const auto content = contents.find({report.relation, report.case_id});
    if (report.not_run.empty() && content != contents.end() && content->second == report.content) {
      known[{report.relation, report.case_id}] = std::move(report);
    }
  }
  return known;
}

/// What an interrupted run left is put in order: its whole results that still hold, nothing else.
Known reopen(const RunDir& dir, const Contents& contents) {
  Known known = known_results(dir, contents);
  std::vector<CaseReport> kept;
  for (const auto& [name, report] : known) {
    kept.push_back(report);
  }
  replace_results(dir.results(), kept);
  std::filesystem::remove_all(dir.launches());
  for (const auto& [name, content] : contents) {
    const auto& [relation, id] = name;
    if (!known.contains(name) && relation.empty()) {
      std::filesystem::remove_all(dir.case_folder(id));
    }
  }
  std::filesystem::remove_all(dir.related(""));
  return known;
}

void require_same_plan(const RunDir& dir, const RunPlan& plan) {
  const RunPlan before = read_plan(dir.plan());
  if (before.cases != plan.cases || before.relations != plan.relations ||
      before.level != plan.level || before.shard != plan.shard) {
    throw UsageError(
        fmt::format("{}: the run there was asked for other cases, another level or shard; resume "
                    "it by its own line: "
                    "{} --resume",
                    dir.root().string(), before.command));
  }
}

/// What is still to be run, and in the plan's order what was found already.
class Remaining {
 public:
  Remaining(RunRequest& request, ChosenCases& chosen, Known known) : known_(std::move(known)) {
    std::erase_if(request.cases, [&](const PlannedCase& planned) {
      return known_.contains({"", planned.id});
    });
    relations_ = chosen.relations;
    std::erase_if(relations_, [&](const PlannedRelation& planned) {
      return known_.contains({std::string(planned.relation->name), planned.first.id});
    });
  }
  const std::vector<PlannedRelation>& relations() const { return relations_; }
  bool holds(Verdict verdict) const {
    return std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
      return known.second.not_run.empty() && known.second.verdict == verdict;
    });
  }
  std::size_t known() const { return known_.size(); }

  void add(std::vector<CaseReport> reports) {
    for (CaseReport& report : reports) {
      known_[{report.relation, report.case_id}] = std::move(report);
    }
  }
  void fill(const RunPlan& whole, FinishedRun& run) const {
    const RunPlan plan = own_part(whole);
    for (const std::string& id : plan.cases) {
      run.reports.push_back(known_.at({"", id}));
    }
    for (const RelatedCases& each : plan.relations) {
      run.relations.push_back(known_.at({each.relation, each.first}));
    }
  }

 private:
  Known known_;
  std::vector<PlannedRelation> relations_;
};

/// The plan is whole already; what runs is the shard's part of it.
void keep_shard(const Shard& shard, ChosenCases& chosen, RunRequest& request) {
  const std::size_t cases = chosen.runnable.size();
  chosen.runnable = dealt(chosen.runnable, shard, 0);
  chosen.relations = dealt(chosen.relations, shard, cases);
  request.cases = chosen.runnable;
}

void require_some_in_shard(const Shard& shard, const ChosenCases& chosen) {
  const std::size_t all = chosen.runnable.size() + chosen.relations.size();
  if (!shard.is_whole() && static_cast<std::size_t>(shard.number) > all) {
    throw UsageError(fmt::format(
        "shard {} holds nothing: the selection has {} cases and relations that can run here",
        format_shard(shard), all));
  }
}

}  // namespace

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
  request.second_runs = !options.once;
  request.fail_fast = options.fail_fast;
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
  plan.shard = format_shard(options.shard);
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

// A worker that cannot be started leaves cases inconclusive.
void require_reference(const std::filesystem::path& program) {
  if (!std::filesystem::is_regular_file(program)) {
    throw UsageError(
        fmt::format("the reference program {} does not exist; build the target "
                    "meshparity-reference, or give --reference PROGRAM",
                    program.string()));
  }
}

RunDir open_folder(const RunOptions& options) {
  if (options.resume) {
    return RunDir::reopen(options.out);
  }
  return options.out.empty() ? RunDir::create_by_time("build/runs") : RunDir::create(options.out);
}

void render(const RunDir& dir, const RunPlan& plan) {
  write_markdown(dir);
  write_junit(dir.junit(), plan, read_results(dir.results()));
}

std::vector<CaseReport> FinishedRun::all() const {
  std::vector<CaseReport> all = reports;
  all.insert(all.end(), relations.begin(), relations.end());
  return all;
}

FinishedRun run_chosen(const RunOptions& options, Terminal& terminal) {
  require_reference(options.programs.reference);
  const auto begun = std::chrono::steady_clock::now();
  ChosenCases chosen = choose_cases(options.cases);
  require_some_in_shard(options.shard, chosen);
  RunRequest request = request_of(options, chosen);
  const RunDir dir = open_folder(options);
  RunPlan plan = plan_of(options, request, chosen);
  keep_shard(options.shard, chosen, request);
  const Contents contents = contents_of(chosen, options);
  FinishedRun run{std::move(chosen), dir, std::move(plan), {}, {}, 0, 0};
  if (options.resume) {
    require_same_plan(dir, run.plan);
  } else {
    write_plan(dir.plan(), run.plan);
  }
  Remaining rest(request, run.chosen, options.resume ? reopen(dir, contents) : Known());
  run.resumed = rest.known();
  ResultStore store(dir.results());
  Progress progress(terminal, request.cases.size() + rest.relations().size());
  const RunHooks hooks = hooks_for({terminal, progress, store}, contents, dir);
  rest.add(request.cases.empty() ? std::vector<CaseReport>() : run_matrix(request, dir, hooks));
  const bool stopped = options.fail_fast && rest.holds(Verdict::diverges);
  rest.add(run_relations(request, rest.relations(), dir, hooks, stopped));
  store_excluded(run.plan, store);
  rest.fill(run.plan, run);
  render(dir, run.plan);
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return run;
}

}  // namespace meshparity
