// What a run was to do and did not: it was interrupted, or shards of it are missing.
#pragma once
#include <string>
#include <vector>

#include "matrix/run_dir.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

/// The cases and relations of the plan (of its shard) that no report is about, as subjects.
std::vector<std::string> without_result(const RunPlan& plan,
                                        const std::vector<CaseReport>& reports);

}  // namespace meshparity
