// The shards of one run put together again.
#pragma once
#include <vector>

#include "matrix/run_dir.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// What a run left: its plan and its results.
struct StoredRun {
  RunDir dir;
  RunPlan plan;
  std::vector<CaseReport> reports;
};
/// Throws UsageError when the folder holds no run, or results that cannot be read.
StoredRun read_run(const std::filesystem::path& folder);

struct MergedRun {
  RunPlan plan;                     // of the whole
  std::vector<CaseReport> reports;  // in the plan's order
};
/// Throws UsageError, naming both folders, unless all are shards of the same run: commit, level,
/// selection and number of shards alike, no shard twice. Shards may be missing: the plan then names
/// cases without a result.
MergedRun merge_runs(const std::vector<StoredRun>& runs);

}  // namespace meshparity
