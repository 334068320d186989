// From the sums of a batch to the new state: gradients over the token count (or by the loss mode),
// norm, clip, optimizer (algorithms.md §8.8).
#pragma once
#include <optional>
#include <vector>

#include "reference/batch.hpp"
#include "reference/clip.hpp"
#include "reference/problem.hpp"
#include "reference/state.hpp"

namespace meshparity::reference {

struct Outcome {
  double loss = 0;                // sum of w_i loss_i over the tokens that count; 0 without any
  std::vector<Matrix> gradients;  // divided by the token count; tied weights apart
  std::vector<Matrix> distinct;   // the same with tied ones added up; a tied copy has no elements
  double norm = 0;
  Clip clip;
  bool found_inf = false;  // an element of the gradient is infinite or NaN
};

/// `frozen`: the exact run's choice to clip or not, for a noisy run.
Outcome finish_batch(const Problem& problem, RunSums sums, const LossShares& shares,
                     std::optional<bool> frozen, Rounding& rounding);

/// One optimizer step with the clipped distinct gradients. With loss scaling the scale moves, and
/// nothing else does when found_inf.
void apply_update(const Problem& problem, const Outcome& outcome, Rounding& rounding, State& state);

}  // namespace meshparity::reference
