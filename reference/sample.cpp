#include "reference/sample.hpp"

#include "fixtures/random_words.hpp"

namespace meshparity::reference {
namespace {

double token_weight(const RawInputs& inputs, int step, int sample, int position) {
  const bool counts =
      position < inputs.length(step, sample) && inputs.mask_bit(step, sample, position);
  return counts ? 1 : 0;
}

/// One site's decisions: [rows, columns] elements of this sample, all samples before it skipped.
struct Site {
  WordOp op;
  int layer;
  Eigen::Index rows, columns;
};
DropoutMask site_mask(const DropoutPlan& plan, const Site& site, int sample) {
  DropoutMask mask;
  if (plan.probability == 0) {
    return mask;
  }
  mask.keep.resize(site.rows, site.columns);
  const WordStream words = {plan.seed, static_cast<std::uint32_t>(plan.step),
                            static_cast<std::uint32_t>(site.layer), site.op};
  const auto elements = static_cast<std::uint64_t>(mask.keep.size());
  draw_mask(words, static_cast<std::uint64_t>(sample) * elements, plan.probability, mask);
  return mask;
}

}  // namespace

Sample make_sample(const ModelSpec& model, const RawInputs& inputs, const DropoutPlan& dropout,
                   int index) {
  const int sequence = model.sequence;
  Sample sample;
  sample.weights.resize(sequence);
  sample.seeds.resize(sequence);
  for (int p = 0; p < sequence; ++p) {
    sample.tokens.push_back(inputs.token(dropout.step, index, p));
    sample.labels.push_back(inputs.token(dropout.step, index, p + 1));
    sample.weights[p] = token_weight(inputs, dropout.step, index, p);
    sample.seeds[p] = sample.weights[p] * inputs.loss_seed(dropout.step, index, p);
  }
  const auto draw = [&](WordOp op, int layer, Eigen::Index rows, Eigen::Index columns) {
    return site_mask(dropout, {op, layer, rows, columns}, index);
  };
  sample.embedding = draw(WordOp::embedding_dropout, 0, sequence, model.hidden);
  for (int layer = 0; layer < model.layers; ++layer) {
    sample.blocks.push_back(
        {draw(WordOp::attention_dropout, layer, Eigen::Index{model.heads} * sequence, sequence),
         draw(WordOp::attention_residual_dropout, layer, sequence, model.hidden),
         draw(WordOp::mlp_residual_dropout, layer, sequence, model.hidden)});
  }
  return sample;
}

double count_tokens_of_sample(const ModelSpec& model, const RawInputs& inputs, int step,
                              int sample) {
  double count = 0;
  for (int p = 0; p < model.sequence; ++p) {
    count += token_weight(inputs, step, sample, p);
  }
  return count;
}

}  // namespace meshparity::reference
