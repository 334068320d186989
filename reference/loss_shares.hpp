// How much each sample's loss counts in the loss of a step (algorithms.md §4.8): the mean over all
// tokens, or the mean over micro-batches of their own means.
#pragma once
#include <vector>

#include "fixtures/model_spec.hpp"
#include "fixtures/raw_inputs.hpp"

namespace meshparity::reference {

/// loss = sum over groups of share_g (sum over the group's tokens of w_i loss_i), divided by
/// `divisor`. Groups are equal runs of samples in order.
struct LossShares {
  int samples_of_group = 1;
  std::vector<double> of_group;  // 1, or 1 / tokens of the group; 0 where it has none
  double divisor = 0;            // tokens, or groups; 0: nothing counts, and all is 0
  double tokens = 0;             // of the step

  /// Roundings that a gradient meets on its way from the sum over tokens.
  int roundings() const { return of_group.size() > 1 ? 3 : 1; }
};

/// Samples of one step, in order, by their index in a batch.
struct StepSamples {
  int batch = 0;
  std::vector<int> indices;
};
/// `mean_of_means`: the number of groups, data-parallel micro-batches; 0: one mean over all tokens.
LossShares loss_shares(const ModelSpec& model, const RawInputs& inputs, const StepSamples& samples,
                       int mean_of_means);

}  // namespace meshparity::reference
