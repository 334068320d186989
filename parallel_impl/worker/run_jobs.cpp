#include "parallel_impl/worker/run_jobs.hpp"

#include <fmt/format.h>

#include <exception>
#include <future>
#include <optional>
#include <utility>

#include "fixtures/error.hpp"
#include "parallel_impl/worker/event_log.hpp"
#include "parallel_impl/worker/forked_case.hpp"

namespace meshparity {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A case whose ranks have joined and whose files are still to be written.
struct Computed {
  std::size_t number = 0;
  Job job;
  CaseEvidence evidence;
  double seconds = 0;
};

void write_and_report(const Computed& computed, EventLog& log) {
  const Clock::time_point start = Clock::now();
  try {
    write_dump(computed.job, computed.evidence);
    log.done(computed.number, computed.seconds + seconds_since(start));
  } catch (const std::exception& error) {
    log.failed(computed.number, {-1, "", error.what()});
  }
}

/// One writing thread at a time, because HDF5 has one lock; memory holds one case being written
/// and one being computed.
class BackgroundWriter {
 public:
  void write(Computed computed, EventLog& log) {
    finish();
    writing_ = std::async(std::launch::async, [computed = std::move(computed), &log] {
      write_and_report(computed, log);
    });
  }
  void finish() {
    if (writing_.valid()) {
      writing_.get();
    }
  }

 private:
  std::future<void> writing_;
};

/// What one job after the other needs.
struct JobRunner {
  const RankBody& body;
  std::chrono::milliseconds time_limit;
  EventLog& log;
  BackgroundWriter writer = {};

  void run(std::size_t number, const Job& job);
  void run_threads(std::size_t number, const LoadedCase& loaded);
  void run_processes(std::size_t number, const LoadedCase& loaded);
};

void JobRunner::run(std::size_t number, const Job& job) {
  try {
    const LoadedCase loaded = load_case(job);
    switch (loaded.spec.machine) {
      case Machine::host_threads:
        return run_threads(number, loaded);
      case Machine::host_procs:
        return run_processes(number, loaded);
      default:
        throw UsageError(
            fmt::format("{}: this program runs host-threads and host-procs", job.case_id));
    }
  } catch (const std::exception& error) {
    log.failed(number, {-1, "", error.what()});
  }
}

void JobRunner::run_threads(std::size_t number, const LoadedCase& loaded) {
  log.begun(number);
  const Clock::time_point start = Clock::now();
  Computed computed{number, loaded.job, run_case(loaded, body, time_limit), 0};
  if (computed.evidence.failure) {
    log.failed(number, *computed.evidence.failure);
    return;
  }
  computed.seconds = seconds_since(start);
  writer.write(std::move(computed), log);
}

// A fork copies one thread only, and the locks that others hold: the writer must have ended.
void JobRunner::run_processes(std::size_t number, const LoadedCase& loaded) {
  writer.finish();
  log.begun(number);
  const Clock::time_point start = Clock::now();
  const std::optional<RankFailure> failure = run_forked_case(loaded, body, time_limit);
  if (failure) {
    log.failed(number, *failure);
  } else {
    log.done(number, seconds_since(start));
  }
}

}  // namespace

bool run_jobs(const std::vector<Job>& jobs, const RankBody& body,
              std::chrono::milliseconds time_limit, std::ostream& events) {
  EventLog log(events);
  JobRunner runner{body, time_limit, log};
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    runner.run(number, jobs[number]);
  }
  runner.writer.finish();
  return !log.any_failed();
}

}  // namespace meshparity
