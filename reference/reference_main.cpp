// meshparity-reference: runs the jobs of a file, one event line each on standard output.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/job.hpp"
#include "reference/rebase.hpp"
#include "reference/run_job.hpp"

namespace {

using meshparity::Job;
using meshparity::JobEvent;
using meshparity::UsageError;

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr std::string_view kHelp =
    "meshparity-reference --jobs FILE | --rebase FILE [--threads N]\n"
    "Computes the references of the cases in FILE (one JSON object a line) and prints one event a\n"
    "line. With --rebase each step begins with the state that a candidate dumped (key \"state\"),\n"
    "and the laws of the candidate's steps are recomputed.\n"
    "N: threads, as many as there are cores unless given; bits do not depend on it.\n";

void report(const JobEvent& event) {
  std::cout << meshparity::format_event(event) << std::endl;
}

/// False when the job failed.
bool run(const Job& job, std::size_t number, const std::function<void(const Job&)>& carry_out) {
  JobEvent event;
  event.job = number;
  report(event);
  const auto begun = std::chrono::steady_clock::now();
  try {
    carry_out(job);
    event.state = JobEvent::State::done;
    event.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  } catch (const std::exception& failure) {
    event.state = JobEvent::State::failed;
    event.rank = 0;
    event.coordinate = "single";
    event.what = failure.what();
  }
  report(event);
  return event.state == JobEvent::State::done;
}

int threads_from(std::string_view text) {
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || threads < 1 || threads > 1024) {
    throw UsageError(fmt::format("--threads {}: give a whole number from 1 to 1024", text));
  }
  return threads;
}

struct Arguments {
  std::string jobs;
  bool rebase = false;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool help = false;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--help") {
      arguments.help = true;
    } else if ((words[i] == "--jobs" || words[i] == "--rebase") && has_value) {
      if (!arguments.jobs.empty()) {
        throw UsageError("two files of jobs are given; use one of --jobs and --rebase, once");
      }
      arguments.rebase = words[i] == "--rebase";
      arguments.jobs = words[++i];
    } else if (words[i] == "--threads" && has_value) {
      arguments.threads = threads_from(words[++i]);
    } else {
      throw UsageError(fmt::format(
          "{}: {}; see --help", words[i],
          words[i].starts_with("--") ? "is unknown or lacks its value" : "is no option"));
    }
  }
  if (arguments.jobs.empty() && !arguments.help) {
    throw UsageError("no jobs are given; use --jobs FILE or --rebase FILE");
  }
  return arguments;
}

int run_all(const Arguments& arguments) {
  if (arguments.help) {
    std::cout << kHelp;
    return kAllDone;
  }
  const std::vector<Job> jobs = meshparity::read_jobs(arguments.jobs);
  meshparity::reference::RebasedSteps known;
  const auto carry_out = [&](const Job& job) {
    if (arguments.rebase) {
      meshparity::reference::rebase_job(job, arguments.threads, known);
    } else {
      meshparity::reference::run_job(job, arguments.threads);
    }
  };
  bool all_done = true;
  for (std::size_t number = 0; number < jobs.size(); ++number) {
    all_done = run(jobs[number], number, carry_out) && all_done;
  }
  return all_done ? kAllDone : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(parse(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const meshparity::UsageError& wrong) {
    std::cerr << "meshparity-reference: " << wrong.what() << "\n";
    return kUsage;
  }
}
