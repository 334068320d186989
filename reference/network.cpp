#include "reference/network.hpp"

#include "reference/embedding.hpp"
#include "reference/linear.hpp"

namespace meshparity::reference {
namespace {

bool is_vector(const ParamSpec& param) {
  return param.shape.size() == 1;
}

}  // namespace

SampleWork::SampleWork(const ModelSpec& model)
    : values(model), gradients(model), blocks(static_cast<std::size_t>(model.layers)) {}

Network::Network(const ModelSpec& model, double smoothing) : model_(model), smoothing_(smoothing) {
  table_ = param_table(model);
  places_ = model_places(model, table_);
  if (model.positions == Positions::rope) {
    rope_.emplace(model);
  }
}

std::vector<GradientSum> Network::gradient_sums(bool noisy,
                                                std::optional<SumOrder> in_float) const {
  std::vector<GradientSum> sums;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const bool of_embedding = i == places_.embedding || table_[i].name == "embed.position";
    const bool per_term = is_vector(table_[i]) || of_embedding;
    const Matrix zero = zero_matrix(table_[i]);
    sums.emplace_back(zero.rows(), zero.cols(),
                      per_term ? GradientKind::per_term : GradientKind::product, noisy, in_float);
  }
  return sums;
}

BlockInputs Network::block(const Weights& weights, const Sample& sample, std::size_t layer) const {
  return {weights, places_.blocks[layer], sample.blocks[layer], model_, rope_ ? &*rope_ : nullptr};
}

LossTargets Network::targets(const Sample& sample) const {
  return {sample.labels, sample.weights, sample.seeds, smoothing_};
}

NormWeights Network::final_norm(const Weights& weights) const {
  const NormPlace& place = places_.final_norm;
  return {weights[place.weight].value, place.bias ? &weights[*place.bias].value : nullptr,
          model_.norm_epsilon, model_.norm};
}

void Network::forward(const Weights& weights, const Sample& sample, Rounding& rounding,
                      SampleWork& work) const {
  SampleTensors& t = work.values;
  embed_tokens(sample.tokens, weights[places_.embedding].value, t.embed_token);
  t.embed_sum = t.embed_token;
  if (!rope_) {
    add_positions(t.embed_token, weights[places_.position].value, rounding, t.embed_sum);
  }
  dropout(t.embed_sum, sample.embedding, rounding, t.blocks.front().in);
  rounding.stored(t.blocks.front().in);
  for (std::size_t layer = 0; layer < t.blocks.size(); ++layer) {
    if (layer > 0) {
      t.blocks[layer].in = t.blocks[layer - 1].out;
    }
    block_forward(block(weights, sample, layer), rounding, work.blocks[layer], t.blocks[layer]);
  }
  norm(t.blocks.back().out, final_norm(weights), rounding, work.final_norm, t.final_norm);
  rounding.stored(t.final_norm);
  multiply_transposed(t.final_norm, weights[places_.head], rounding, t.logits);
  rounding.stored(t.logits);
  cross_entropy(t.logits, targets(sample), rounding, work.class_probs, t.loss_token);
}

void Network::backward(const Weights& weights, const Sample& sample, Rounding& rounding,
                       SampleWork& work, std::vector<GradientSum>& sums) const {
  const SampleTensors& t = work.values;
  SampleTensors& d = work.gradients;
  cross_entropy_backward(work.class_probs, targets(sample), rounding, d.logits);
  rounding.stored(d.logits);
  add_product(d.logits, t.final_norm, rounding, sums[places_.head]);
  multiply(d.logits, weights[places_.head], rounding, d.final_norm);
  rounding.stored(d.final_norm);
  add_norm_gradient(d.final_norm, work.final_norm, places_.final_norm, sums);
  norm_backward(d.final_norm, final_norm(weights), work.final_norm, rounding, d.blocks.back().out);
  rounding.stored(d.blocks.back().out);
  for (std::size_t layer = d.blocks.size(); layer-- > 0;) {
    const BlockPair pair = {work.blocks[layer], t.blocks[layer], d.blocks[layer]};
    block_backward(block(weights, sample, layer), rounding, pair, sums);
    if (layer > 0) {
      d.blocks[layer - 1].out = d.blocks[layer].in;
    }
  }
  dropout(d.blocks.front().in, sample.embedding, rounding, d.embed_sum);
  if (!rope_) {
    sums[places_.position].add_elements(d.embed_sum);
  }
  d.embed_token = d.embed_sum;
  sums[places_.embedding].scatter(sample.tokens, d.embed_token);
}

}  // namespace meshparity::reference
