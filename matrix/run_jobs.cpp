#include "matrix/run_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <future>
#include <map>

#include "fixtures/case_spec.hpp"
#include "matrix/job_launch.hpp"
#include "matrix/job_queue.hpp"
#include "matrix/mpi_start.hpp"

namespace meshparity {
namespace {

/// Empty while another launch may be started.
std::string why_no_more(const JobQueue& queue, const LaunchSettings& settings) {
  if (settings.stop()) {
    return kStopped;
  }
  const std::string hopeless = queue.why_hopeless();
  return hopeless.empty() ? hopeless : hopeless + " (three launches in a row)";
}

// One of the launches side by side: part after part until none is left.
void run_parts(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks,
               JobQueue& queue, std::atomic<int>& launches) {
  for (auto part = queue.take(); !part.empty(); part = queue.take()) {
    while (!part.empty() && why_no_more(queue, settings).empty()) {
      part = JobLaunch(jobs, std::move(part), settings, hooks).run(launches++, queue);
    }
    for (const std::size_t job : part) {
      hooks.ended(job, never_began(why_no_more(queue, settings)), 0);
    }
  }
}

void run_side_by_side(const std::vector<Job>& jobs, const LaunchSettings& settings,
                      const JobHooks& hooks) {
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

/// What jobs of one launch have in common.
struct Start {
  std::string suffix;  // of the worker's name
  int ranks = 0;       // that mpirun must start; 0: the program runs them by itself
  bool on_gpu = false;
  auto operator<=>(const Start&) const = default;
};

/// Rebasing names candidates' cases to a program that has no ranks.
Start start_of(const Job& job, const LaunchSettings& settings) {
  const CaseSpec spec = parse_case(job.case_id);
  if (settings.mode != "--jobs") {
    return {};
  }
  return {worker_suffix(spec.machine), is_on_mpi(spec.machine) ? spec.mesh.world_size() : 0,
          is_on_gpu(spec.machine)};
}

LaunchSettings settings_for(const Start& start, const LaunchSettings& settings) {
  if (start.suffix.empty()) {
    return settings;
  }
  LaunchSettings other = settings;
  other.program =
      settings.program.parent_path() / (settings.program.filename().string() + start.suffix);
  if (start.ranks > 0) {
    other.starter = mpi_starter(start.ranks);
  }
  const char* kind = start.on_gpu ? "cuda" : "mpi";
  other.folder = settings.folder / fmt::format("{}{}", kind, start.ranks);
  other.side_by_side = 1;  // every launch has its many processes, or the GPU
  std::filesystem::create_directories(other.folder);
  return other;
}

// The chosen jobs, told to the hooks by their place among all.
void run_chosen(const std::vector<Job>& jobs, const std::vector<std::size_t>& chosen,
                const LaunchSettings& settings, const JobHooks& hooks) {
  std::vector<Job> part;
  for (const std::size_t place : chosen) {
    part.push_back(jobs[place]);
  }
  JobHooks told;
  told.begun = [&](std::size_t job) { hooks.begun(chosen[job]); };
  told.ended = [&](std::size_t job, const LaunchOutcome& outcome, double seconds) {
    hooks.ended(chosen[job], outcome, seconds);
  };
  told.note = hooks.note;
  run_side_by_side(part, settings, told);
}

}  // namespace

void run_jobs(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks) {
  std::map<Start, std::vector<std::size_t>> by_start;
  for (std::size_t place = 0; place < jobs.size(); ++place) {
    by_start[start_of(jobs[place], settings)].push_back(place);
  }
  for (const auto& [start, chosen] : by_start) {
    run_chosen(jobs, chosen, settings_for(start, settings), hooks);
  }
}

}  // namespace meshparity
