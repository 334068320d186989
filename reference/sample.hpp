// What one sample of a step is: tokens, labels, weights and keep decisions, derived from the raw
// inputs and random words.
#pragma once
#include <vector>

#include "fixtures/model_spec.hpp"
#include "fixtures/raw_inputs.hpp"
#include "reference/block.hpp"

namespace meshparity::reference {

struct Sample {
  std::vector<int> tokens;  // [S]
  std::vector<int> labels;  // label(p) = token(p + 1)
  Row weights;              // 1 where p < length and the mask bit is set, else 0
  Row seeds;                // weights times loss seeds
  DropoutMask embedding;
  std::vector<BlockMasks> blocks;
};

/// Which words keep or drop, and with what probability; 0 switches dropout off.
struct DropoutPlan {
  std::uint64_t seed = 0;
  int step = 0;
  double probability = 0;
};

/// Sample `index` of the step's batch.
Sample make_sample(const ModelSpec& model, const RawInputs& inputs, const DropoutPlan& dropout,
                   int index);

/// Sum of the weights of a sample's tokens: a count, exact.
double count_tokens_of_sample(const ModelSpec& model, const RawInputs& inputs, int step,
                              int sample);

}  // namespace meshparity::reference
