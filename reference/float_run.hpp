// A candidate that is this textbook itself, run as a lane computes: every operation to the nearest
// number of the lane's types, sums and products in float in any order and split. It shares the
// formulas with the reference, not the rounding, and is there to try limits with.
#pragma once
#include "fixtures/job.hpp"
#include "reference/problem.hpp"
#include "reference/state.hpp"
#include "reference/step_records.hpp"
#include "reference/update.hpp"

namespace meshparity::reference {

class FloatRun {
 public:
  /// `problem` has the candidate's own precision; samples are summed in `order`'s parts too, as
  /// over data-parallel ranks.
  FloatRun(const Problem& problem, Precision precision, Level level, SumOrder order);

  /// Runs the step from the present state: all records of the level.
  StepRecords run(int step);

 private:
  RunSums run_group(int step, int first, int last, StepRecords& records);
  void run_sample(int step, int index, RunSums& sums, StepRecords& records);
  RunSums empty_sums() const;

  const Problem& problem_;
  Precision precision_;
  Level level_;
  Rounding rounding_;
  State state_;
  Weights weights_;
  SampleWork work_;
};

/// Writes job.out/rank_0000.h5, a whole dump of the case as one rank computed it.
void write_float_run(const Job& job, SumOrder order);

}  // namespace meshparity::reference
