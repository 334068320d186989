// meshparity-reference: runs the jobs of a file, one event line each on standard output.
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <thread>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/job.hpp"
#include "reference/run_job.hpp"

namespace {

using meshparity::Job;
using meshparity::JobEvent;

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;

void report(const JobEvent& event) {
  std::cout << meshparity::format_event(event) << std::endl;
}

/// False when the job failed.
bool run(const Job& job, std::size_t number, int threads) {
  JobEvent event;
  event.job = number;
  report(event);
  const auto begun = std::chrono::steady_clock::now();
  try {
    meshparity::reference::run_job(job, threads);
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Computes references: one process, FP64. See fixtures/job.hpp for the job file.",
               "meshparity-reference");
  std::filesystem::path file;
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  app.add_option("--jobs", file, "job file, one JSON object a line")->required();
  app.add_option("--threads", threads, "threads; bits do not depend on them")
      ->check(CLI::Range(1, 1024));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& wrong) {
    std::cerr << "meshparity-reference: " << wrong.what() << "; see --help\n";
    return kUsage;
  }
  try {
    const std::vector<Job> jobs = meshparity::read_jobs(file);
    bool all_done = true;
    for (std::size_t number = 0; number < jobs.size(); ++number) {
      all_done = run(jobs[number], number, threads) && all_done;
    }
    return all_done ? kAllDone : kSomeFailed;
  } catch (const meshparity::UsageError& wrong) {
    std::cerr << "meshparity-reference: " << wrong.what() << "\n";
    return kUsage;
  }
}
