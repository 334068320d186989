// For tests: runs a case on threads and puts the pieces of all ranks together, through the dump's
// own files.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "parallel_impl/worker/run_rank.hpp"

namespace meshparity {

struct CaseRun {
  /// Assembled values by "step0/forward/layer0.in", integers as doubles.
  std::map<std::string, std::vector<double>> records;
  /// What went wrong in putting them together: holes, unequal copies. Empty when all is well.
  std::vector<std::string> complaints;
  /// By rank.
  std::vector<std::vector<CollectiveRow>> collectives;
  std::vector<std::map<std::string, std::vector<double>>> locals;
  std::vector<std::vector<MemoryRow>> memory;
  std::vector<std::vector<ActionRow>> actions;
};

/// Throws Error when a rank failed, with its text. `body` is train(), or train_on_cuda().
CaseRun run_whole_case(const std::string& case_id, Level level, const RankBody& body = train);

/// Names of the records of one phase and step that differ anywhere ("==", so NaN differs).
std::vector<std::string> differing(const CaseRun& a, const CaseRun& b, const std::string& prefix);

}  // namespace meshparity
