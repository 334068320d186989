// All jobs of one launch, one after the other; the files of a case are written while the next one
// computes.
#pragma once
#include <chrono>
#include <iosfwd>
#include <vector>

#include "fixtures/job.hpp"
#include "parallel_impl/worker/run_case.hpp"

namespace meshparity {

/// Prints one line an event (fixtures/job.hpp) to `events`; "done" only when the case's files are
/// complete. A case that fails leaves a board and no files, and the next one runs. Cases share
/// nothing, so their order changes no bit. True when all are done.
bool run_jobs(const std::vector<Job>& jobs, const RankBody& body,
              std::chrono::milliseconds time_limit, std::ostream& events);

}  // namespace meshparity
