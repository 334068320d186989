// Runs jobs through a program: several launches side by side, many jobs a launch, and what a dead
// or standing launch leaves is carried on by a new one (contracts.md §10).
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/job.hpp"
#include "matrix/judge.hpp"

namespace meshparity {

struct LaunchSettings {
  std::filesystem::path program;  // meshparity-worker or meshparity-reference
  std::filesystem::path folder;   // job files and logs
  int side_by_side = 1;
  /// A case whose board stands still for so long is killed; none: no board is watched.
  std::optional<std::chrono::milliseconds> time_limit;
  /// When nothing more may run; what is unfinished then is inconclusive.
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// When it is true launches are killed and none is started; what is unfinished never began.
  std::function<bool()> stop = [] { return false; };
  std::string mode = "--jobs";            // the option that takes the job file
  std::vector<std::string> options = {};  // further words of the command
  std::vector<std::string> starter = {};  // words before the program: mpirun and its options
};

/// Called from several threads. Every job gets exactly one `ended`, whatever happens.
struct JobHooks {
  std::function<void(std::size_t job)> begun;
  std::function<void(std::size_t job, const LaunchOutcome& outcome, double seconds)> ended;
  std::function<void(const std::string& text)> note;  // about a launch, not about a job
};

/// Cases on MPI and on GPUs go to workers of their own beside the program (worker_suffix), those of
/// one world size in one launch after the other, when all the others are through.
void run_jobs(const std::vector<Job>& jobs, const LaunchSettings& settings, const JobHooks& hooks);

}  // namespace meshparity
