#include "matrix/run_relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "fixtures/error.hpp"
#include "matrix/distance.hpp"
#include "matrix/equal_records.hpp"
#include "matrix/run_case.hpp"
#include "matrix/run_jobs.hpp"
#include "matrix/task_pool.hpp"

namespace meshparity {
namespace {

/// A candidate's run that relations speak of; one that several name is made once.
struct Side {
  const PlannedCase* planned = nullptr;
  Level level = Level::all;
  Job job;
  LaunchOutcome outcome;
  double seconds = 0;
  bool ended = false;
  std::size_t users = 0;  // relations that still need its dump
};

struct Pair {
  std::size_t first = 0;  // places among the sides
  std::size_t partner = 0;
};

CheckResult not_ended(const Side& side) {
  Finding finding;
  finding.check = "liveness";
  finding.gravity = side.outcome.never_began ? Verdict::inconclusive : Verdict::diverges;
  finding.rank = side.outcome.rank;
  finding.coordinate = side.outcome.coordinate;
  finding.text = fmt::format("{}: {}", side.planned->id, side.outcome.what);
  CheckResult check;
  check.check = "liveness";
  check.verdict = finding.gravity;
  check.findings.push_back(std::move(finding));
  return check;
}

CheckResult compared(const PlannedRelation& planned, const Side& first, const Side& partner) {
  for (const Side* side : {&first, &partner}) {
    if (!side->outcome.finished) {
      return not_ended(*side);
    }
  }
  const DumpSet left(first.job.out);
  const DumpSet right(partner.job.out);
  require_readable(left);
  require_readable(right);
  const std::vector<RecordSpec> table = record_table(planned.first.model, planned.first.spec);
  const auto chosen = [&](const RecordKey& key) { return selects(*planned.relation, table, key); };
  return planned.relation->measured ? measure_distance(left, right, chosen)
                                    : check_equal_dumps(left, right, chosen);
}

class Relations {
 public:
  Relations(const RunRequest& request, const std::vector<PlannedRelation>& relations,
            const RunDir& dir, const RunHooks& hooks, bool stopped)
      : request_(request),
        relations_(relations),
        dir_(dir),
        hooks_(hooks),
        reports_(relations.size()),
        stop_(stopped),
        judges_(request.jobs, static_cast<std::size_t>(2 * request.jobs)) {
    for (const PlannedRelation& planned : relations_) {
      const std::size_t first = side_of(planned.first, Level::all, false);
      const std::size_t partner = side_of(planned.partner, planned.partner_level, planned.again);
      pairs_.push_back({first, partner});
    }
  }

  std::vector<CaseReport> run() {
    std::vector<Job> jobs;
    std::transform(sides_.begin(), sides_.end(), std::back_inserter(jobs),
                   [](const Side& side) { return side.job; });
    JobHooks hooks;
    hooks.begun = [](std::size_t) {};
    hooks.ended = [this](std::size_t side, const LaunchOutcome& outcome, double seconds) {
      end(side, outcome, seconds);
    };
    hooks.note = hooks_.note;
    run_jobs(jobs, settings(), hooks);
    judges_.finish();
    return std::move(reports_);
  }

 private:
  LaunchSettings settings() const {
    LaunchSettings settings{request_.programs.worker,
                            dir_.launches() / "relations",
                            request_.jobs,
                            request_.time_limit,
                            {}};
    settings.stop = [this] { return stop_.load(); };
    std::filesystem::create_directories(settings.folder);
    return settings;
  }

  std::size_t side_of(const PlannedCase& planned, Level level, bool again) {
    const std::string name =
        fmt::format("{}.{}{}", planned.id, level_name(level), again ? ".again" : "");
    const auto [entry, added] = by_name_.emplace(name, sides_.size());
    if (added) {
      Side side{&planned, level, worker_job(planned, request_, dir_.related(name)), {}, 0,
                false,    0};
      side.job.level = level;
      sides_.push_back(std::move(side));
    }
    ++sides_[entry->second].users;
    return entry->second;
  }

  void end(std::size_t place, const LaunchOutcome& outcome, double seconds) {
    std::vector<std::size_t> ready;
    {
      const std::lock_guard lock(mutex_);
      Side& side = sides_[place];
      side.outcome = outcome;
      side.seconds = seconds;
      side.ended = true;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const bool concerned = pairs_[i].first == place || pairs_[i].partner == place;
        if (concerned && sides_[pairs_[i].first].ended && sides_[pairs_[i].partner].ended) {
          ready.push_back(i);
        }
      }
    }
    for (const std::size_t i : ready) {
      judges_.give([this, i] { close(i); });
    }
  }

  CaseReport report_of(const PlannedRelation& planned, const Side& first, const Side& partner) {
    CaseReport report;
    try {
      report.checks.push_back(compared(planned, first, partner));
      report.verdict = gravest(report.checks);
    } catch (const std::exception& error) {
      report = without_evidence(planned.first.id,
                                fmt::format("the dumps could not be compared: {}", error.what()));
    }
    report.case_id = planned.first.id;
    report.relation = std::string(planned.relation->name);
    report.partner = planned.partner.id;
    report.seconds = first.seconds + partner.seconds;
    report.replay = fmt::format("meshparity run {} --relation {}{}", planned.first.id,
                                planned.relation->name, request_.replay_options);
    return report;
  }

  bool was_stopped(const Pair& pair) const {
    return stop_ &&
           (sides_[pair.first].outcome.never_began || sides_[pair.partner].outcome.never_began);
  }

  void close(std::size_t i) {
    const Pair& pair = pairs_[i];
    CaseReport report = report_of(relations_[i], sides_[pair.first], sides_[pair.partner]);
    if (was_stopped(pair)) {
      report.checks.clear();
      report.not_run = kFailedFast;
    } else if (request_.fail_fast && report.verdict == Verdict::diverges) {
      stop_ = true;
    }
    const bool kept = is_kept(report, request_.keep);
    const std::lock_guard lock(mutex_);
    let_go(pair.first, kept);
    let_go(pair.partner, kept);
    hooks_.ended(report);
    reports_[i] = std::move(report);
  }

  /// A dump that one relation keeps stays for all.
  void let_go(std::size_t place, bool kept) {
    Side& side = sides_[place];
    side.users += kept ? 1 : 0;
    if (--side.users == 0) {
      std::error_code none;  // a dump that stays costs room, no truth
      std::filesystem::remove_all(side.job.out, none);
    }
  }

  const RunRequest& request_;
  const std::vector<PlannedRelation>& relations_;
  const RunDir& dir_;
  const RunHooks& hooks_;
  std::vector<CaseReport> reports_;
  std::atomic<bool> stop_;  // something diverged, and that is enough
  std::map<std::string, std::size_t> by_name_;
  std::vector<Side> sides_;
  std::vector<Pair> pairs_;
  std::mutex mutex_;  // sides and hooks
  TaskPool judges_;   // last: its tasks use everything above
};

}  // namespace

std::vector<CaseReport> run_relations(const RunRequest& request,
                                      const std::vector<PlannedRelation>& relations,
                                      const RunDir& dir, const RunHooks& hooks, bool stopped) {
  if (relations.empty()) {
    return {};
  }
  return Relations(request, relations, dir, hooks, stopped).run();
}

}  // namespace meshparity
