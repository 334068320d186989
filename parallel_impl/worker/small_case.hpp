// For tests: a job with a model of its own that loads in no time, and bodies that stand in for
// training.
#pragma once
#include <string>

#include "fixtures/job.hpp"
#include "fixtures/scratch_folder.hpp"
#include "parallel_impl/worker/run_case.hpp"

namespace meshparity {

/// Of the models in the project's own folder; `out` is made and empty.
Job small_job(const ScratchFolder& folder, const std::string& case_id, const std::string& out);

/// Sums the rank over the world and records the sum as the loss of every step.
void sum_of_ranks(const RankContext& context);

}  // namespace meshparity
