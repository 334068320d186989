// The command line of the worker programs.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace meshparity {

struct WorkerArguments {
  std::string jobs;
  std::chrono::milliseconds time_limit{0};  // sanitizers make it longer
  bool help = false;
};

/// Throws UsageError in one line.
WorkerArguments parse_worker_arguments(const std::vector<std::string>& words);

}  // namespace meshparity
