#include "matrix/run_matrix.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

#include "fixtures/error.hpp"
#include "fixtures/job.hpp"
#include "matrix/rebasing.hpp"
#include "matrix/references.hpp"
#include "matrix/run_case.hpp"
#include "matrix/run_jobs.hpp"
#include "matrix/second_run.hpp"
#include "matrix/task_pool.hpp"

namespace meshparity {
namespace {

std::optional<std::chrono::steady_clock::time_point> deadline_of(const RunRequest& request) {
  if (!request.budget) {
    return std::nullopt;
  }
  return std::chrono::steady_clock::now() + *request.budget;
}

/// A case that does not conform, until it has run again.
struct Doubtful {
  EndedCase ended;
  CaseReport report;
};

// The third and fourth phase. Cases are launched in the order of the request. As soon as a launch
// lets go of one, the reference is restarted from its states, and then it is judged, while the
// launches go on.
class Candidates {
 public:
  Candidates(const RunRequest& request, const RunDir& dir, const RunHooks& hooks,
             const std::map<ReferenceKey, Reference>& references)
      : request_(request),
        dir_(dir),
        hooks_(hooks),
        references_(references),
        reports_(request.cases.size()),
        deadline_(deadline_of(request)),
        judges_(request.jobs, static_cast<std::size_t>(2 * request.jobs)),
        rebasing_(rebase_settings(), [this](const std::string& text) { note(text); }) {}

  std::vector<CaseReport> run();

 private:
  const Reference& reference_of(std::size_t place) const {
    return references_.at(key_of(request_.cases[place], request_.level));
  }
  LaunchSettings settings() const;
  LaunchSettings rebase_settings() const;
  void note(const std::string& text);
  void rebase(std::size_t place, const LaunchOutcome& outcome, double seconds);
  void close(const EndedCase& ended, std::size_t place);
  void report(CaseReport report, std::size_t place);
  void run_doubtful_again();

  const RunRequest& request_;
  const RunDir& dir_;
  const RunHooks& hooks_;
  const std::map<ReferenceKey, Reference>& references_;
  std::vector<CaseReport> reports_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  std::mutex one_at_a_time_;                  // hooks and what stands below
  std::atomic<bool> stop_{false};             // a case diverged, and that is enough
  std::map<std::size_t, Doubtful> doubtful_;  // by place: reported after their second run
  TaskPool judges_;
  Rebasing rebasing_;  // gives to the judges
};

LaunchSettings Candidates::settings() const {
  LaunchSettings settings{
      request_.programs.worker, dir_.launches() / "worker", request_.jobs, request_.time_limit, {}};
  std::filesystem::create_directories(settings.folder);
  settings.deadline = deadline_;
  settings.stop = [this] { return stop_.load(); };
  return settings;
}

LaunchSettings Candidates::rebase_settings() const {
  LaunchSettings settings{
      request_.programs.reference, dir_.launches() / "rebased", request_.jobs, {}, deadline_};
  std::filesystem::create_directories(settings.folder);
  return settings;
}

void Candidates::note(const std::string& text) {
  const std::lock_guard lock(one_at_a_time_);
  hooks_.note(text);
}

// A case whose launch died has no states to go on from, and a probe's show indices.
void Candidates::rebase(std::size_t place, const LaunchOutcome& outcome, double seconds) {
  if (outcome.never_began && stop_) {
    return report(not_run(request_.cases[place].id, kFailedFast), place);
  }
  const EndedCase ended{request_.cases[place], reference_of(place), outcome, seconds};
  if (!outcome.finished || is_probe(ended.planned.spec)) {
    judges_.give([this, ended, place] { close(ended, place); });
    return;
  }
  rebasing_.give({[this, ended] { return rebase_job(ended, request_, dir_); },
                  [this, ended, place](const LaunchOutcome& rebased) mutable {
                    EndedCase with_rebased{ended.planned, ended.reference, ended.outcome,
                                           ended.seconds, rebased};
                    judges_.give([this, with_rebased, place] { close(with_rebased, place); });
                  }});
}

void Candidates::close(const EndedCase& ended, std::size_t place) {
  CaseReport judged = judge_case(ended, request_, dir_, hooks_);
  if (request_.fail_fast && judged.verdict == Verdict::diverges) {
    stop_ = true;
  }
  if (request_.second_runs && needs_second_run(ended, judged)) {
    const std::lock_guard lock(one_at_a_time_);
    doubtful_.emplace(place, Doubtful{ended, std::move(judged)});
  } else {
    report(std::move(judged), place);
  }
}

void Candidates::report(CaseReport report, std::size_t place) {
  let_dumps_go(report, request_.keep, dir_);
  const std::lock_guard lock(one_at_a_time_);
  hooks_.ended(report);
  reports_[place] = std::move(report);
}

// One after the other, when nothing else runs any more.
void Candidates::run_doubtful_again() {
  LaunchSettings alone{request_.programs.worker, dir_.launches() / "again", 1, request_.time_limit,
                       deadline_};
  for (auto& [place, doubtful] : doubtful_) {
    add_second_run(doubtful.ended, request_, dir_, alone, doubtful.report);
    report(std::move(doubtful.report), place);
  }
}

std::vector<CaseReport> Candidates::run() {
  std::vector<Job> jobs;
  std::vector<std::size_t> places;  // job -> case
  for (std::size_t place = 0; place < request_.cases.size(); ++place) {
    if (reference_of(place).failure.empty()) {
      const PlannedCase& planned = request_.cases[place];
      jobs.push_back(worker_job(planned, request_, dir_.dump(planned.id)));
      places.push_back(place);
    } else {
      close({request_.cases[place], reference_of(place), {}, 0}, place);
    }
  }
  JobHooks hooks;
  hooks.begun = [&](std::size_t job) {
    const std::lock_guard lock(one_at_a_time_);
    hooks_.begun(jobs[job].case_id);
  };
  hooks.ended = [&](std::size_t job, const LaunchOutcome& outcome, double seconds) {
    rebase(places[job], outcome, seconds);
  };
  hooks.note = [&](const std::string& text) { note(text); };
  run_jobs(jobs, settings(), hooks);
  rebasing_.finish();
  judges_.finish();
  run_doubtful_again();
  return std::move(reports_);
}

}  // namespace

std::vector<CaseReport> run_matrix(const RunRequest& request, const RunDir& dir,
                                   const RunHooks& hooks) {
  const auto references = prepare_references(request, dir, hooks);
  return Candidates(request, dir, hooks, references).run();
}

}  // namespace meshparity
