// The decoder of one sample: embedding, blocks, final norm, head, loss; and its gradients by hand.
#pragma once
#include <optional>
#include <vector>

#include "fixtures/model_spec.hpp"
#include "reference/block.hpp"
#include "reference/cross_entropy.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/sample.hpp"
#include "reference/sample_tensors.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// Workspace of one sample's run, made once a thread.
struct SampleWork {
  SampleTensors values;
  SampleTensors gradients;
  std::vector<BlockTrace> blocks;
  NormTrace final_norm;
  Matrix class_probs;  // softmax of the logits

  explicit SampleWork(const ModelSpec& model);
};

class Network {
 public:
  /// `smoothing` is the mass that the case spreads over all classes, 0 or the model's.
  Network(const ModelSpec& model, double smoothing);

  const ModelSpec& model() const { return model_; }
  const std::vector<ParamSpec>& parameters() const { return table_; }
  /// One zero sum for each parameter, as a GradientSum is made.
  std::vector<GradientSum> gradient_sums(bool noisy, std::optional<SumOrder> in_float = {}) const;

  /// Fills work.values; the loss of each token is in work.values.loss_token.
  void forward(const Weights& weights, const Sample& sample, Rounding& rounding,
               SampleWork& work) const;
  /// Gradients of sum_i w_i loss_i: fills work.gradients, adds to `sums`. After forward.
  void backward(const Weights& weights, const Sample& sample, Rounding& rounding, SampleWork& work,
                std::vector<GradientSum>& sums) const;

 private:
  BlockInputs block(const Weights& weights, const Sample& sample, std::size_t layer) const;
  LossTargets targets(const Sample& sample) const;
  NormWeights final_norm(const Weights& weights) const;

  ModelSpec model_;
  std::vector<ParamSpec> table_;
  ModelPlaces places_;
  std::optional<Rope> rope_;
  double smoothing_;
};

}  // namespace meshparity::reference
