#include "matrix/expect/memory.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "matrix/expect/grid.hpp"
#include "matrix/expect/record_parts.hpp"

namespace meshparity::expect {
namespace {

constexpr std::string_view kInputs = "activation_B";   // for the gradient of a layer's input
constexpr std::string_view kWeights = "activation_W";  // for that of its weights
constexpr std::int64_t kIntegerBytes = 4;              // tokens, labels, random words

std::int64_t number_bytes(const CaseSpec& spec) {
  return spec.precision == Precision::fp64 ? 8 : 4;
}

std::int64_t moments_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::adamw:
      return 2;
    case OptimizerKind::momentum:
      return 1;
    case OptimizerKind::sgd:
      break;
  }
  return 0;
}

class SavedList {
 public:
  SavedList(const Layout& layout, int rank)
      : model_(layout.model),
        dropout_(layout.spec.dropout),
        number_(number_bytes(layout.spec)),
        tp_(layout.spec.mesh.degree(Axis::tp)),
        rows_(rows_of_micro_batch(layout)),
        stream_(layout.spec.sequence_parallel
                    ? share_of(rows_, tp_, coordinate_on(layout.spec, rank, Axis::tp)).count
                    : rows_),
        heads_(model_.heads / tp_),
        key_heads_(std::max(1, model_.kv_heads / tp_)) {}

  std::vector<SavedTensor> all() {
    integers("tokens", rows_);
    integers("labels", rows_);
    numbers("weights", kInputs, rows_);
    numbers("loss_seeds", kInputs, rows_);
    numbers("embed.out", kInputs, stream_ * model_.hidden);
    words("embed.words", stream_ * model_.hidden);
    times_ = model_.layers;
    block();
    times_ = 1;
    norm("final_norm");
    loss();
    return std::move(list_);
  }

 private:
  void block() {
    const std::int64_t stream = stream_ * model_.hidden;
    norm("norm1");
    attention();
    numbers("attn.residual", kInputs, stream);
    words("attn.residual.words", stream);
    norm("norm2");
    const std::int64_t wide = rows_ * (model_.ffn / tp_);
    numbers("mlp.up", kInputs, wide);
    numbers("mlp.gate", kInputs, model_.activation == Activation::swiglu ? wide : 0);
    numbers("mlp.act", kWeights, wide);
    numbers("out", kInputs, stream);
    words("out.words", stream);
  }

  void attention() {
    const std::int64_t queries = rows_ * heads_ * model_.head_dim;
    const std::int64_t keys = rows_ * key_heads_ * model_.head_dim;
    const std::int64_t scores = rows_ * heads_ * model_.sequence;
    numbers("attn.q", kInputs, queries);
    numbers("attn.k", kInputs, keys);
    numbers("attn.v", kInputs, keys);
    if (model_.qk_norm) {
      numbers("attn.q_proj", kInputs, queries);
      numbers("attn.q_norm.inverse", kInputs, rows_ * heads_);
      numbers("attn.k_proj", kInputs, keys);
      numbers("attn.k_norm.inverse", kInputs, rows_ * key_heads_);
    }
    numbers("attn.probs", kInputs, scores);
    numbers("attn.sink.probs", kInputs, model_.attention_sink ? rows_ * heads_ : 0);
    words("attn.words", scores);
    numbers("attn.context", kWeights, queries);
  }

  /// Its output, and of every row the reciprocal deviation and, with LayerNorm, the mean.
  void norm(const std::string& name) {
    numbers(name + ".mean", kInputs, model_.norm == Norm::layernorm ? stream_ : 0);
    numbers(name + ".inverse", kInputs, stream_);
    numbers(name, kWeights, stream_ * model_.hidden);
  }

  /// Of every token the maximum, the target's logit, the sums of exponentials and of logits, the
  /// loss.
  void loss() {
    numbers("logits", kInputs, rows_ * (model_.padded_vocabulary / tp_));
    numbers("loss", kInputs, 5 * rows_);
  }

  void numbers(std::string name, std::string_view tag, std::int64_t elements) {
    add({std::move(name), tag, elements, number_, times_});
  }
  void integers(std::string name, std::int64_t elements) {
    add({std::move(name), kInputs, elements, kIntegerBytes, times_});
  }
  void words(std::string name, std::int64_t elements) {
    integers(std::move(name), dropout_ ? elements : 0);
  }
  void add(SavedTensor tensor) {
    if (tensor.elements > 0) {
      list_.push_back(std::move(tensor));
    }
  }

  const ModelSpec& model_;
  bool dropout_;
  std::int64_t number_;
  int tp_;
  std::int64_t rows_;    // of a micro-batch on a replica
  std::int64_t stream_;  // of them, those that this rank keeps between tensor-parallel regions
  std::int64_t heads_, key_heads_;
  std::int64_t times_ = 1;
  std::vector<SavedTensor> list_;
};

std::size_t place_of_tag(std::string_view tag) {
  return static_cast<std::size_t>(std::find(kDueTags.begin(), kDueTags.end(), tag) -
                                  kDueTags.begin());
}

}  // namespace

std::int64_t RankMemory::of(std::string_view tag) const {
  return bytes.at(place_of_tag(tag));
}

std::int64_t RankMemory::total() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

std::vector<SavedTensor> saved_tensors(const Layout& layout, int rank) {
  return SavedList(layout, rank).all();
}

RankMemory memory_of(const Layout& layout, int rank) {
  std::int64_t values = 0, gradients = 0;
  for (const ParamSpec& param : param_table(layout.model)) {
    const std::int64_t elements = part_of(param, layout, rank).in_memory;
    gradients += elements;
    values += param.tied_to.empty() ? elements : 0;
  }
  const std::int64_t number = number_bytes(layout.spec);
  RankMemory memory;
  memory.bytes[place_of_tag("parameter")] = values * number;
  memory.bytes[place_of_tag("gradient")] = gradients * number;
  memory.bytes[place_of_tag("optimizer")] = values * number * moments_of(layout.spec.optimizer);
  for (const SavedTensor& tensor : saved_tensors(layout, rank)) {
    memory.bytes[place_of_tag(tensor.tag)] += tensor.bytes();
  }
  return memory;
}

}  // namespace meshparity::expect
