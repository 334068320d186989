#include "matrix/run_jobs.hpp"

#include <algorithm>
#include <atomic>
#include <future>

#include "matrix/job_launch.hpp"
#include "matrix/job_queue.hpp"

namespace meshparity {
namespace {

// One of the launches side by side: part after part until none is left.
void run_parts(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks,
               JobQueue& queue, std::atomic<int>& launches) {
  for (auto part = queue.take(); !part.empty(); part = queue.take()) {
    while (!part.empty() && queue.why_hopeless().empty()) {
      part = JobLaunch(jobs, std::move(part), settings, hooks).run(launches++, queue);
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
