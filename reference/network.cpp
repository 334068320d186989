#include "reference/network.hpp"

#include <fmt/format.h>

#include "fixtures/error.hpp"
#include "reference/embedding.hpp"
#include "reference/linear.hpp"

namespace meshparity::reference {
namespace {

void require_plain_gpt(const ModelSpec& model) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) {
      throw NotBuiltYet(
          fmt::format("model {}: the reference has {} not built yet", model.name, what));
    }
  };
  require(model.norm == Norm::layernorm, "norms other than LayerNorm");
  require(model.positions == Positions::learned, "positions other than learned ones");
  require(model.activation == Activation::gelu_erf, "activations other than gelu_erf");
  require(model.biases, "layers without biases");
  require(model.kv_heads == model.heads, "grouped key heads");
  require(!model.qk_norm, "norms of queries and keys");
}

bool is_vector(const ParamSpec& param) {
  return param.shape.size() == 1;
}

}  // namespace

SampleWork::SampleWork(const ModelSpec& model)
    : values(model), gradients(model), blocks(static_cast<std::size_t>(model.layers)) {}

Network::Network(const ModelSpec& model, double smoothing) : model_(model), smoothing_(smoothing) {
  require_plain_gpt(model);
  table_ = param_table(model);
  places_ = model_places(model, table_);
}

std::vector<GradientSum> Network::gradient_sums(bool noisy) const {
  std::vector<GradientSum> sums;
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const bool per_term = is_vector(table_[i]) || i == places_.embedding || i == places_.position;
    const Matrix zero = zero_matrix(table_[i]);
    sums.emplace_back(zero.rows(), zero.cols(),
                      per_term ? GradientKind::per_term : GradientKind::product, noisy);
  }
  return sums;
}

BlockInputs Network::block(const Weights& weights, const Sample& sample, std::size_t layer) const {
  return {weights,
          places_.blocks[layer],
          sample.blocks[layer],
          {model_.heads, model_.head_dim},
          model_.norm_epsilon};
}

LossTargets Network::targets(const Sample& sample) const {
  return {sample.labels, sample.weights, smoothing_};
}

NormWeights Network::final_norm(const Weights& weights) const {
  return {weights[places_.final_norm.weight].value, weights[places_.final_norm.bias].value,
          model_.norm_epsilon};
}

void Network::forward(const Weights& weights, const Sample& sample, Rounding& rounding,
                      SampleWork& work) const {
  SampleTensors& t = work.values;
  embed_tokens(sample.tokens, weights[places_.embedding].value, t.embed_token);
  add_positions(t.embed_token, weights[places_.position].value, rounding, t.embed_sum);
  dropout(t.embed_sum, sample.embedding, rounding, t.blocks.front().in);
  for (std::size_t layer = 0; layer < t.blocks.size(); ++layer) {
    if (layer > 0) {
      t.blocks[layer].in = t.blocks[layer - 1].out;
    }
    block_forward(block(weights, sample, layer), rounding, work.blocks[layer], t.blocks[layer]);
  }
  layer_norm(t.blocks.back().out, final_norm(weights), rounding, work.final_norm, t.final_norm);
  multiply_transposed(t.final_norm, weights[places_.head], rounding, t.logits);
  cross_entropy(t.logits, targets(sample), rounding, work.class_probs, t.loss_token);
}

void Network::backward(const Weights& weights, const Sample& sample, Rounding& rounding,
                       SampleWork& work, std::vector<GradientSum>& sums) const {
  const SampleTensors& t = work.values;
  SampleTensors& d = work.gradients;
  cross_entropy_backward(work.class_probs, targets(sample), rounding, d.logits);
  sums[places_.head].add_product(d.logits, t.final_norm);
  multiply(d.logits, weights[places_.head], rounding, d.final_norm);
  add_layer_norm_gradient(d.final_norm, work.final_norm, places_.final_norm, sums);
  layer_norm_backward(d.final_norm, weights[places_.final_norm.weight].value, work.final_norm,
                      rounding, d.blocks.back().out);
  for (std::size_t layer = d.blocks.size(); layer-- > 0;) {
    const BlockPair pair = {work.blocks[layer], t.blocks[layer], d.blocks[layer]};
    block_backward(block(weights, sample, layer), rounding, pair, sums);
    if (layer > 0) {
      d.blocks[layer - 1].out = d.blocks[layer].in;
    }
  }
  dropout(d.blocks.front().in, sample.embedding, rounding, d.embed_sum);
  sums[places_.position].add_elements(d.embed_sum);
  d.embed_token = d.embed_sum;
  sums[places_.embedding].scatter(sample.tokens, d.embed_token);
}

}  // namespace meshparity::reference
