#include "matrix/run_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <future>

#include "fixtures/error.hpp"
#include "matrix/board_watch.hpp"
#include "matrix/job_queue.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{50};
constexpr std::size_t kLogLines = 3;

LaunchOutcome not_finished(std::string what) {
  LaunchOutcome outcome;
  outcome.finished = false;
  outcome.what = std::move(what);
  return outcome;
}

LaunchOutcome never_began(std::string what) {
  LaunchOutcome outcome = not_finished(std::move(what));
  outcome.never_began = true;
  return outcome;
}

LaunchOutcome failure_told(const JobEvent& event) {
  LaunchOutcome outcome = not_finished(event.what);
  outcome.rank = event.rank;
  outcome.coordinate = event.coordinate;
  return outcome;
}

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// One launch: runs its part of the jobs, in order, until the process ends or must be killed.
class OneLaunch {
 public:
  OneLaunch(const std::vector<Job>& jobs, std::vector<std::size_t> part,
            const LaunchSettings& settings, const JobHooks& hooks)
      : jobs_(jobs), part_(std::move(part)), settings_(settings), hooks_(hooks) {}

  /// Returns the jobs that still have to run; none of the others is without an outcome.
  std::vector<std::size_t> run(int number, JobQueue& queue);

 private:
  std::filesystem::path path(int number, std::string_view extension) const;
  void write_jobs(const std::filesystem::path& file) const;
  std::vector<std::size_t> left() const;
  void listen(Launch& launch, JobQueue& queue);
  void take(const JobEvent& event, JobQueue& queue);
  bool must_stop(Launch& launch);
  void stop(Launch& launch);
  void end_standing(double limit);
  void judge_end(const ProcessEnd& end, JobQueue& queue);
  void finish(const LaunchOutcome& outcome, double seconds);
  std::string name() const { return settings_.program.filename().string(); }

  const std::vector<Job>& jobs_;
  std::vector<std::size_t> part_;
  const LaunchSettings& settings_;
  const JobHooks& hooks_;
  std::size_t next_ = 0;  // place in part_ of the case in flight, or of the next to begin
  bool in_flight_ = false;
  bool any_began_ = false;
  bool killed_ = false;
  std::optional<BoardWatch> watch_;
  Clock::time_point begun_;
  std::filesystem::path log_;
};

std::filesystem::path OneLaunch::path(int number, std::string_view extension) const {
  return settings_.folder / fmt::format("launch{:04}.{}", number, extension);
}

void OneLaunch::write_jobs(const std::filesystem::path& file) const {
  std::ofstream out(file);
  for (const std::size_t job : part_) {
    out << format_job(jobs_[job]) << '\n';
  }
  if (!out.flush()) {
    throw Error(fmt::format("writing the job file {}", file.string()));
  }
}

std::vector<std::size_t> OneLaunch::run(int number, JobQueue& queue) {
  log_ = path(number, "log");
  const std::filesystem::path file = path(number, "jobs");
  std::optional<Launch> launch;
  try {
    write_jobs(file);
    std::vector<std::string> command = {settings_.program.string(), settings_.mode, file.string()};
    command.insert(command.end(), settings_.options.begin(), settings_.options.end());
    launch.emplace(command, log_);
  } catch (const Error& error) {
    queue.launch_was_fruitless(error.what());
    finish(never_began(error.what()), 0);
    return left();
  }
  listen(*launch, queue);
  judge_end(launch->wait(), queue);
  return left();
}

std::vector<std::size_t> OneLaunch::left() const {
  return {part_.begin() + static_cast<std::ptrdiff_t>(next_), part_.end()};
}

void OneLaunch::listen(Launch& launch, JobQueue& queue) {
  begun_ = Clock::now();
  std::ofstream chatter(log_, std::ios::app);
  std::string line;
  for (Launch::Read read = launch.read_line(line, kLook); read != Launch::Read::end;
       read = launch.read_line(line, kLook)) {
    if (read == Launch::Read::line) {
      const std::optional<JobEvent> event = parse_event(line);
      if (event) {
        take(*event, queue);
      } else {
        chatter << line << std::endl;
      }
    }
    if (must_stop(launch)) {
      return;
    }
  }
}

void OneLaunch::take(const JobEvent& event, JobQueue& queue) {
  if (event.job != next_ || next_ >= part_.size()) {
    hooks_.note(
        fmt::format("{} spoke of job {} while job {} was due; ignored", name(), event.job, next_));
    return;
  }
  switch (event.state) {
    case JobEvent::State::begun:
      in_flight_ = any_began_ = true;
      queue.job_began();
      begun_ = Clock::now();
      watch_.emplace(jobs_[part_[next_]].out, begun_);
      hooks_.begun(part_[next_]);
      return;
    case JobEvent::State::done:
      return finish({}, event.seconds);
    case JobEvent::State::failed:
      return finish(failure_told(event), event.seconds);
  }
}

void OneLaunch::finish(const LaunchOutcome& outcome, double seconds) {
  const std::size_t job = part_[next_++];
  in_flight_ = false;
  watch_.reset();
  begun_ = Clock::now();
  hooks_.ended(job, outcome, seconds);
}

bool OneLaunch::must_stop(Launch& launch) {
  const Clock::time_point now = Clock::now();
  if (settings_.deadline && now > *settings_.deadline) {
    stop(launch);
    while (next_ < part_.size()) {
      finish(never_began("the total budget was reached before this case ended"), 0);
    }
    return true;
  }
  if (!settings_.time_limit) {
    return false;
  }
  const Clock::duration still = watch_ ? watch_->still_for(now) : now - begun_;
  if (still <= *settings_.time_limit) {
    return false;
  }
  stop(launch);
  end_standing(std::chrono::duration<double>(*settings_.time_limit).count());
  return true;
}

void OneLaunch::stop(Launch& launch) {
  launch.kill();
  killed_ = true;
}

void OneLaunch::end_standing(double limit) {
  if (next_ >= part_.size()) {
    hooks_.note(fmt::format("{} did not end within {:g} s of its last case", name(), limit));
  } else if (!in_flight_) {
    finish(never_began(fmt::format("{} began no case for {:g} s", name(), limit)), 0);
  } else {
    const Standstill stands = describe_board(watch_->lines());
    LaunchOutcome outcome =
        not_finished(fmt::format("nothing moved for {:g} s: {}", limit, stands.text));
    outcome.rank = stands.rank;
    finish(outcome, seconds_since(begun_));
  }
}

void OneLaunch::judge_end(const ProcessEnd& end, JobQueue& queue) {
  const std::string told = fmt::format("{} {}", name(), describe(end));
  const std::string last = last_lines(log_, kLogLines);
  const std::string said = last.empty() ? "" : fmt::format("; its last lines: {}", last);
  if (!any_began_) {
    queue.launch_was_fruitless(told + said);
  }
  if (killed_) {
    return;
  }
  if (in_flight_) {
    // Where each rank stood is on the board, which the judge reads.
    finish(not_finished(told + " during this case" + said), seconds_since(begun_));
  } else if (next_ < part_.size()) {
    finish(never_began(told + " before this case began" + said), 0);
  } else if (!end.clean()) {
    hooks_.note(told + " after its last case" + said);
  }
}

// One of the launches side by side: part after part until none is left.
void run_parts(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks,
               JobQueue& queue, std::atomic<int>& launches) {
  for (auto part = queue.take(); !part.empty(); part = queue.take()) {
    while (!part.empty() && queue.why_hopeless().empty()) {
      part = OneLaunch(jobs, std::move(part), settings, hooks).run(launches++, queue);
    }
    for (const std::size_t job : part) {
      hooks.ended(job, never_began(queue.why_hopeless() + " (three launches in a row)"), 0);
    }
  }
}

}  // namespace

void run_jobs(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks) {
  JobQueue queue(jobs.size(), settings.side_by_side);
  std::atomic<int> launches{0};
  std::vector<std::future<void>> side_by_side;
  for (int i = 0; i < std::max(1, settings.side_by_side); ++i) {
    side_by_side.push_back(
        std::async(std::launch::async, [&] { run_parts(jobs, settings, hooks, queue, launches); }));
  }
  for (auto& each : side_by_side) {
    each.wait();
  }
  for (auto& each : side_by_side) {
    each.get();  // what a hook threw
  }
}

}  // namespace meshparity
