#include "matrix/job_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr std::size_t kLogLines = 3;
constexpr std::chrono::milliseconds kStart{60'000};
// The exit code of a program whose last case failed and that can run no further ones.
constexpr int kSpent = 4;

LaunchOutcome not_finished(std::string what) {
  LaunchOutcome outcome;
  outcome.finished = false;
  outcome.what = std::move(what);
  return outcome;
}

LaunchOutcome failure_told(const JobEvent& event) {
  LaunchOutcome outcome = not_finished(event.what);
  outcome.rank = event.rank;
  outcome.coordinate = event.coordinate;
  return outcome;
}

bool is_computing(const std::vector<BoardLine>& board) {
  return std::any_of(board.begin(), board.end(),
                     [](const BoardLine& line) { return line.state != RankState::ended; });
}

// A folder that a lost case has begun to fill must be empty again.
void empty_folder(const std::filesystem::path& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
}

}  // namespace

LaunchOutcome never_began(std::string what) {
  LaunchOutcome outcome = not_finished(std::move(what));
  outcome.never_began = true;
  return outcome;
}

JobLaunch::JobLaunch(const std::vector<Job>& jobs, std::vector<std::size_t> part,
                     const LaunchSettings& settings, const JobHooks& hooks)
    : jobs_(jobs),
      part_(std::move(part)),
      settings_(settings),
      hooks_(hooks),
      ended_(part_.size(), 0) {}

std::vector<std::size_t> JobLaunch::run(int number, JobQueue& queue) {
  const std::filesystem::path file = settings_.folder / fmt::format("launch{:04}.jobs", number);
  log_ = settings_.folder / fmt::format("launch{:04}.log", number);
  std::optional<Launch> launch;
  try {
    write_jobs(file);
    std::vector<std::string> command = settings_.starter;
    command.insert(command.end(), {settings_.program.string(), settings_.mode, file.string()});
    command.insert(command.end(), settings_.options.begin(), settings_.options.end());
    launch.emplace(command, log_);
  } catch (const Error& error) {
    queue.launch_was_fruitless(error.what());
    finish(0, never_began(error.what()), 0);
    return left();
  }
  listen(*launch, queue);
  judge_end(launch->wait(), queue);
  return left();
}

void JobLaunch::write_jobs(const std::filesystem::path& file) const {
  std::ofstream out(file);
  for (const std::size_t job : part_) {
    out << format_job(jobs_[job]) << '\n';
  }
  if (!out.flush()) {
    throw Error(fmt::format("writing the job file {}", file.string()));
  }
}

void JobLaunch::listen(Launch& launch, JobQueue& queue) {
  heard_ = Clock::now();
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

void JobLaunch::take(const JobEvent& event, JobQueue& queue) {
  if (event.job >= part_.size() || ended_[event.job] != 0) {
    hooks_.note(fmt::format("{} spoke of job {}, which is not due; ignored", name(), event.job));
    return;
  }
  heard_ = Clock::now();
  any_progress_ = true;
  queue.job_began();
  switch (event.state) {
    case JobEvent::State::begun:
      return begin(event.job);
    case JobEvent::State::done:
      return finish(event.job, {}, event.seconds);
    case JobEvent::State::failed:
      any_failed_ = true;
      return finish(event.job, failure_told(event), event.seconds);
  }
}

void JobLaunch::begin(std::size_t place) {
  in_flight_.push_back({place, heard_, BoardWatch(job(place).out, heard_)});
  hooks_.begun(part_[place]);
}

void JobLaunch::finish(std::size_t place, const LaunchOutcome& outcome, double seconds) {
  ended_[place] = 1;
  std::erase_if(in_flight_, [place](const InFlight& each) { return each.place == place; });
  hooks_.ended(part_[place], outcome, seconds);
}

bool JobLaunch::must_stop(Launch& launch) {
  const Clock::time_point now = Clock::now();
  const bool too_late = settings_.deadline && now > *settings_.deadline;
  const bool stands = settings_.time_limit && still_for(now) > limit();
  const bool stopped = settings_.stop();
  if (!too_late && !stands && !stopped) {
    return false;
  }
  launch.kill();
  killed_ = true;
  if (stopped) {
    end_all(kStopped);
  } else if (too_late) {
    end_all("the total budget was reached before this case ended");
  } else {
    end_standing(std::chrono::duration<double>(limit()).count());
  }
  return true;
}

// mpirun brings its processes together before the first word; where the machine's own name is not
// known, looking it up alone takes ten seconds.
std::chrono::milliseconds JobLaunch::limit() const {
  const bool is_starting = !any_progress_ && !settings_.starter.empty();
  return is_starting ? std::max(*settings_.time_limit, kStart) : *settings_.time_limit;
}

JobLaunch::Clock::duration JobLaunch::still_for(Clock::time_point now) {
  Clock::duration still = now - heard_;
  for (InFlight& each : in_flight_) {
    still = std::min(still, each.watch.still_for(now));
  }
  return still;
}

void JobLaunch::end_all(const std::string& why) {
  for (std::size_t place = 0; place < part_.size(); ++place) {
    if (ended_[place] == 0) {
      finish(place, never_began(why), 0);
    }
  }
}

void JobLaunch::end_standing(double limit) {
  if (!in_flight_.empty()) {
    return blame(fmt::format("nothing moved for {:g} s", limit));
  }
  const auto waiting = std::find(ended_.begin(), ended_.end(), 0);
  if (waiting == ended_.end()) {
    hooks_.note(fmt::format("{} did not end within {:g} s of its last case", name(), limit));
  } else {
    finish(static_cast<std::size_t>(waiting - ended_.begin()),
           never_began(fmt::format("{} began no case for {:g} s", name(), limit)), 0);
  }
}

// The case whose ranks still compute, the last begun if there are several; where all ranks have
// ended, the one that is being written, which began first.
const JobLaunch::InFlight& JobLaunch::culprit() const {
  const auto computing =
      std::find_if(in_flight_.rbegin(), in_flight_.rend(), [](const InFlight& each) {
        const std::vector<BoardLine> board = each.watch.lines();
        return board.empty() || is_computing(board);
      });
  return computing != in_flight_.rend() ? *computing : in_flight_.front();
}

void JobLaunch::blame(const std::string& what) {
  const InFlight& guilty = culprit();
  const Standstill stands = describe_board(guilty.watch.lines());
  std::string text = fmt::format("{}: {}", what, stands.text);
  for (const InFlight& each : in_flight_) {
    if (each.place != guilty.place) {
      text += fmt::format("; in flight beside it, and run again: {}", job(each.place).case_id);
    }
  }
  LaunchOutcome outcome = not_finished(text);
  outcome.rank = stands.rank;
  finish(guilty.place, outcome, std::chrono::duration<double>(Clock::now() - guilty.begun).count());
}

void JobLaunch::judge_end(const ProcessEnd& end, JobQueue& queue) {
  const std::string last = last_lines(log_, kLogLines);
  const std::string told = fmt::format("{} {}{}", name(), describe(end),
                                       last.empty() ? "" : ", its last lines: " + last);
  if (!any_progress_) {
    queue.launch_was_fruitless(told);
  }
  if (killed_) {
    return;
  }
  const auto waiting = std::find(ended_.begin(), ended_.end(), 0);
  const bool may_say_failure = end.signal == 0 && any_failed_;
  const bool spent = may_say_failure && end.exit_code == kSpent;
  if (!in_flight_.empty()) {
    blame(told);
  } else if (waiting != ended_.end() && !spent) {
    finish(static_cast<std::size_t>(waiting - ended_.begin()),
           never_began("before this case began " + told), 0);
  } else if (!end.clean() && !may_say_failure) {
    hooks_.note("after its last case " + told);
  }
}

std::vector<std::size_t> JobLaunch::left() const {
  for (const InFlight& each : in_flight_) {
    empty_folder(job(each.place).out);
  }
  std::vector<std::size_t> left;
  for (std::size_t place = 0; place < part_.size(); ++place) {
    if (ended_[place] == 0) {
      left.push_back(part_[place]);
    }
  }
  return left;
}

}  // namespace meshparity
