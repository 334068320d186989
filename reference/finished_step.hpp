// The records of a step that are not made sample by sample.
#pragma once
#include "reference/problem.hpp"
#include "reference/state.hpp"
#include "reference/step_records.hpp"
#include "reference/update.hpp"

namespace meshparity::reference {

struct FinishedStep {
  const Problem& problem;
  int step;
  double tokens;
  double loss_scale;  // that of this step
  const Outcome& outcome;
  const State& state;  // after the update
  /// The parameters as the next step reads them; `state` has the masters.
  const std::vector<Matrix>& compute_copies;
};

/// Fills those of its records that `records` holds.
void put_finished(const FinishedStep& finished, StepRecords& records);

}  // namespace meshparity::reference
