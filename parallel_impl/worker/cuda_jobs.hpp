// All jobs of one launch with GPUs, ranks as threads: one after the other.
#pragma once
#include <chrono>
#include <iosfwd>
#include <vector>

#include "parallel_impl/worker/run_case.hpp"

namespace meshparity {

enum class LaunchEnd {
  all_done,
  some_refused,  // cases that could not begin
  spent,         // a case failed: what it did to the GPU may be felt by the next
};

/// Prints one line an event (fixtures/job.hpp); "done" only when the case's files are complete. A
/// case that fails ends the launch, with cases left that want another.
LaunchEnd run_cuda_jobs(const std::vector<Job>& jobs, const RankBody& body,
                        std::chrono::milliseconds time_limit, std::ostream& events);

}  // namespace meshparity
