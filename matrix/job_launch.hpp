// One launch of a program over its part of the jobs: listens until the process ends or must be
// killed, and finds the case that an untimely end belongs to. A program may write one case while
// it computes the next, so several can be in flight.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "matrix/board_watch.hpp"
#include "matrix/job_queue.hpp"
#include "matrix/launch.hpp"
#include "matrix/run_jobs.hpp"

namespace meshparity {

/// What is said of jobs that were left because the run was stopped.
inline constexpr const char* kStopped = "the run was stopped";

/// Of a job that its program never came to.
LaunchOutcome never_began(std::string what);

class JobLaunch {
 public:
  JobLaunch(const std::vector<Job>& jobs, std::vector<std::size_t> part,
            const LaunchSettings& settings, const JobHooks& hooks);

  /// Returns the jobs that still have to run, their folders empty again; every other job of the
  /// part has its outcome.
  std::vector<std::size_t> run(int number, JobQueue& queue);

 private:
  using Clock = std::chrono::steady_clock;
  struct InFlight {
    std::size_t place = 0;  // in part_
    Clock::time_point begun;
    BoardWatch watch;
  };

  void write_jobs(const std::filesystem::path& file) const;
  void listen(Launch& launch, JobQueue& queue);
  void take(const JobEvent& event, JobQueue& queue);
  void begin(std::size_t place);
  void finish(std::size_t place, const LaunchOutcome& outcome, double seconds);
  bool must_stop(Launch& launch);
  /// How long nothing may move; only where there is a time limit.
  std::chrono::milliseconds limit() const;
  Clock::duration still_for(Clock::time_point now);
  void end_all(const std::string& why);
  void end_standing(double limit);
  void judge_end(const ProcessEnd& end, JobQueue& queue);
  void blame(const std::string& what);
  const InFlight& culprit() const;
  std::vector<std::size_t> left() const;

  const Job& job(std::size_t place) const { return jobs_[part_[place]]; }
  std::string name() const { return settings_.program.filename().string(); }

  const std::vector<Job>& jobs_;
  std::vector<std::size_t> part_;
  const LaunchSettings& settings_;
  const JobHooks& hooks_;
  std::vector<char> ended_;          // of each place
  std::vector<InFlight> in_flight_;  // in the order in which they began
  Clock::time_point heard_;          // when the program last spoke of a job
  bool any_progress_ = false;
  bool any_failed_ = false;
  bool killed_ = false;
  std::filesystem::path log_;
};

}  // namespace meshparity
