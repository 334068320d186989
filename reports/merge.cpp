#include "reports/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "fixtures/error.hpp"
#include "matrix/shard.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

bool same_excluded(const ExcludedCase& a, const ExcludedCase& b) {
  return a.id == b.id && a.reason == b.reason;
}

/// What two plans differ in that one run's shards share; empty: nothing.
std::string difference(const RunPlan& a, const RunPlan& b) {
  if (a.commit != b.commit) {
    return fmt::format("commit {} against {}", a.commit, b.commit);
  }
  if (a.level != b.level) {
    return fmt::format("level {} against {}", a.level, b.level);
  }
  const bool same_selection = a.cases == b.cases && a.relations == b.relations &&
                              std::equal(a.excluded.begin(), a.excluded.end(), b.excluded.begin(),
                                         b.excluded.end(), same_excluded);
  if (!same_selection) {
    return fmt::format("another selection ({} cases, {} relations against {}, {})", a.cases.size(),
                       a.relations.size(), b.cases.size(), b.relations.size());
  }
  return "";
}

/// "1/2 and 3/4": their numbers are not of one deal, or the same shard is there twice.
std::string clash(const RunPlan& a, const RunPlan& b) {
  const Shard first = parse_shard(a.shard);
  const Shard second = parse_shard(b.shard);
  if (first.count != second.count) {
    return fmt::format("shard {} against {}", a.shard, b.shard);
  }
  return first.number == second.number ? fmt::format("shard {} is there twice", a.shard) : "";
}

void require_shards(const std::vector<StoredRun>& runs) {
  for (const StoredRun& run : runs) {
    if (run.plan.shard.empty()) {
      throw UsageError(
          fmt::format("{} is a whole run, no shard: report it alone", run.dir.root().string()));
    }
  }
}

void require_alike(const StoredRun& a, const StoredRun& b) {
  std::string what = difference(a.plan, b.plan);
  what = what.empty() ? clash(a.plan, b.plan) : what;
  if (!what.empty()) {
    throw UsageError(fmt::format("{} and {} are no shards of one run: {}", a.dir.root().string(),
                                 b.dir.root().string(), what));
  }
}

/// The command without its "--shard I/N".
std::string whole_command(const RunPlan& plan) {
  std::string command = plan.command;
  for (const std::string& words : {" --shard " + plan.shard, " --shard=" + plan.shard}) {
    const std::size_t at = command.find(words);
    command.erase(std::min(at, command.size()), at == std::string::npos ? 0 : words.size());
  }
  return command;
}

RunPlan whole_plan(const std::vector<StoredRun>& runs) {
  RunPlan plan = runs.front().plan;
  plan.command = whole_command(plan);
  plan.shard.clear();
  std::vector<std::string> machines;
  for (const StoredRun& run : runs) {
    plan.started = std::min(plan.started, run.plan.started);
    if (std::find(machines.begin(), machines.end(), run.plan.cpu) == machines.end()) {
      machines.push_back(run.plan.cpu);
    }
  }
  plan.cpu = fmt::format("{}", fmt::join(machines, "; "));
  return plan;
}

}  // namespace

StoredRun read_run(const std::filesystem::path& folder) {
  const RunDir dir = RunDir::open(folder);
  return {dir, read_plan(dir.plan()), read_results(dir.results())};
}

MergedRun merge_runs(const std::vector<StoredRun>& runs) {
  require_shards(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (std::size_t j = i + 1; j < runs.size(); ++j) {
      require_alike(runs[i], runs[j]);
    }
  }
  // Excluded cases stand in every shard.
  std::map<std::tuple<std::string, std::string, std::string>, const CaseReport*> found;
  for (const StoredRun& run : runs) {
    for (const CaseReport& report : run.reports) {
      found[{report.relation, report.case_id, report.not_run}] = &report;
    }
  }
  MergedRun merged{whole_plan(runs), {}};
  const auto take = [&](const std::string& relation, const std::string& id) {
    for (auto each = found.lower_bound({relation, id, ""});
         each != found.end() && std::get<0>(each->first) == relation &&
         std::get<1>(each->first) == id;
         each = found.erase(each)) {
      merged.reports.push_back(*each->second);
    }
  };
  for (const std::string& id : merged.plan.cases) {
    take("", id);
  }
  for (const RelatedCases& each : merged.plan.relations) {
    take(each.relation, each.first);
  }
  for (const auto& [name, report] : found) {
    merged.reports.push_back(*report);
  }
  return merged;
}

}  // namespace meshparity
