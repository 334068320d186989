// Cross entropy of each token with label smoothing s over the V logical classes, weighted:
// w ( (1-s) (-log p_y) + s mean_v(-log p_v) ), -log p_v = ln sum_u exp(z_u - M) - (z_v - M).
#pragma once
#include <vector>

#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

struct LossTargets {
  const std::vector<int>& labels;
  const Row& weights;  // 1 or 0
  const Row& seeds;    // what backward starts from: a weight, or infinite (RawInputs::loss_seed)
  double smoothing;
};

/// `probs` becomes softmax(logits), which backward needs; losses is [1, S], each times its weight.
void cross_entropy(const Matrix& logits, const LossTargets& targets, Rounding& rounding,
                   Matrix& probs, Matrix& losses);
/// dz_v = seed (p_v - s/V - (1-s) [v == y])
void cross_entropy_backward(const Matrix& probs, const LossTargets& targets, Rounding& rounding,
                            Matrix& dlogits);

}  // namespace meshparity::reference
