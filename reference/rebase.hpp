// The mode "rebase": a reference whose every step begins with what a candidate left behind, and the
// laws of the candidate's own step. Free-running AdamW trajectories part; rebased ones do not
// (bounds.md §3.5).
#pragma once
#include <cstddef>
#include <deque>
#include <string>

#include "fixtures/job.hpp"
#include "reference/problem.hpp"
#include "reference/step_records.hpp"
#include "reference/weight_versions.hpp"

namespace meshparity::reference {

/// A step to run: all that its records depend on. `start` holds the versions that the step reads.
struct RebasedStep {
  const Problem& problem;
  const Versions& start;
  int step = 0;
  Level level = Level::standard;
};

/// Steps that this launch has computed: equal ones, told by the hash of their state, are computed
/// once. Keeps the latest, up to a number of bytes.
class RebasedSteps {
 public:
  explicit RebasedSteps(std::size_t bytes = std::size_t{512} << 20) : limit_(bytes) {}

  /// Stays valid until the next call.
  const StepRecords& records(const RebasedStep& asked, int threads);
  int computed() const { return computed_; }

 private:
  struct Known {
    std::string name;
    StepRecords records;
    std::size_t bytes;
  };
  std::size_t limit_;
  std::size_t held_ = 0;
  int computed_ = 0;
  std::deque<Known> known_;
};

/// Writes rank_0000.h5 into job.out from job.state, a dump of one rank that holds what a candidate
/// dumped: with AdamW every record of each step whose state before is whole, and the laws of every
/// step. Throws UsageError when job.state is no such dump.
void rebase_job(const Job& job, int threads, RebasedSteps& known);

}  // namespace meshparity::reference
