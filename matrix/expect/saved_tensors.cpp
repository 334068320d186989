#include <algorithm>
#include <array>
#include <utility>

#include "matrix/expect/grid.hpp"
#include "matrix/expect/memory.hpp"
#include "matrix/expect/number_bytes.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/schedule.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

constexpr std::string_view kInputs = "activation_B";   // for the gradient of a layer's input
constexpr std::string_view kWeights = "activation_W";  // for that of its weights
constexpr std::int64_t kWordBytes = 4;                 // of random words

class SavedList {
 public:
  SavedList(const Layout& layout, int rank)
      : layout_(layout),
        model_(layout.model),
        spec_(layout.spec),
        rank_(rank),
        tp_(spec_.mesh.degree(Axis::tp)),
        rows_(rows_of_micro_batch(layout)),
        stream_(spec_.sequence_parallel
                    ? share_of(rows_, tp_, coordinate_on(spec_, rank, Axis::tp)).count
                    : rows_),
        heads_(model_.heads / tp_),
        key_heads_(std::max(1, model_.kv_heads / tp_)) {}

  std::vector<SavedTensor> all() {
    for (const int chunk : chunks_of_stage(spec_, stage_of(spec_, rank_))) {
      next_ = {};
      next_.chunk = chunk;
      of_chunk(pieces_of_chunk(layout_, chunk));
    }
    return std::move(list_);
  }

 private:
  void of_chunk(const Pieces& pieces) {
    const bool has_head = pieces.holds(piece_count(model_) - 1);
    if (pieces.holds(0)) {
      numbers("embed.out", kInputs, stream_ * model_.hidden);
      words("embed.words", stream_ * model_.hidden);
    } else {
      numbers("input", kInputs, stream_ * model_.hidden);
    }
    blocks(pieces.count - (pieces.holds(0) ? 1 : 0) - (has_head ? 1 : 0), has_head);
    if (has_head) {
      norm("final_norm");
      loss();
    }
  }

  void blocks(int count, bool has_head) {
    const bool again = spec_.recompute == Recompute::full;
    if (again) {
      // The inputs of all but the first, and that of the last norm.
      next_.times = std::max(0, has_head ? count : count - 1);
      numbers("out", kInputs, stream_ * model_.hidden);
    }
    next_.times = count;
    if (!again) {
      for_inputs();
      for_weights();
    }
    if (is_split(spec_.schedule)) {
      next_.in_backward = true;
      if (again) {
        for_weights();
      }
      gradients();
      next_.in_backward = false;
    }
    next_.times = 1;
  }

  void for_inputs() {
    const std::int64_t stream = stream_ * model_.hidden;
    statistics("norm1");
    attention();
    numbers("attn.residual", kInputs, stream);
    words("attn.residual.words", stream);
    statistics("norm2");
    numbers("mlp.up", kInputs, wide());
    numbers("mlp.gate", kInputs, gate());
    numbers("out", kInputs, stream);
    words("out.words", stream);
  }

  void attention() {
    const std::int64_t scores = rows_ * heads_ * model_.sequence;
    numbers("attn.q", kInputs, queries());
    numbers("attn.k", kInputs, keys());
    numbers("attn.v", kInputs, keys());
    if (model_.qk_norm) {
      numbers("attn.q_proj", kInputs, queries());
      numbers("attn.q_norm.inverse", kInputs, rows_ * heads_);
      numbers("attn.k_proj", kInputs, keys());
      numbers("attn.k_norm.inverse", kInputs, rows_ * key_heads_);
    }
    if (spec_.recompute != Recompute::selective) {
      numbers("attn.probs", kInputs, scores);
      numbers("attn.sink.probs", kInputs, model_.attention_sink ? rows_ * heads_ : 0);
      words("attn.words", scores);
    }
  }

  /// The inputs of the block's linears.
  void for_weights() {
    numbers("norm1", kWeights, stream_ * model_.hidden);
    numbers("attn.context", kWeights, queries());
    numbers("norm2", kWeights, stream_ * model_.hidden);
    numbers("mlp.act", kWeights, wide());
  }

  /// Of what the block's linears put out.
  void gradients() {
    numbers("attn.q.grad", kWeights, queries());
    numbers("attn.k.grad", kWeights, keys());
    numbers("attn.v.grad", kWeights, keys());
    numbers("attn.out.grad", kWeights, rows_ * model_.hidden);
    numbers("mlp.up.grad", kWeights, wide());
    numbers("mlp.gate.grad", kWeights, gate());
    numbers("mlp.down.grad", kWeights, rows_ * model_.hidden);
  }

  /// Of every row the reciprocal deviation and, with LayerNorm, the mean.
  void statistics(const std::string& name) {
    numbers(name + ".mean", kInputs, model_.norm == Norm::layernorm ? stream_ : 0);
    numbers(name + ".inverse", kInputs, stream_);
  }

  void norm(const std::string& name) {
    statistics(name);
    numbers(name, kWeights, stream_ * model_.hidden);
  }

  /// Of every token the maximum, the target's logit, the sums of exponentials and of logits, the
  /// loss.
  void loss() {
    numbers("logits", kWeights, rows_ * (model_.padded_vocabulary / tp_));
    numbers("loss", kInputs, 5 * rows_);
  }

  std::int64_t queries() const { return rows_ * heads_ * model_.head_dim; }
  std::int64_t keys() const { return rows_ * key_heads_ * model_.head_dim; }
  std::int64_t wide() const { return rows_ * (model_.ffn / tp_); }
  std::int64_t gate() const { return model_.activation == Activation::swiglu ? wide() : 0; }

  void numbers(std::string name, std::string_view tag, std::int64_t elements) {
    add(std::move(name), tag, elements, number_bytes(spec_));
  }
  void words(std::string name, std::int64_t elements) {
    add(std::move(name), kInputs, spec_.dropout ? elements : 0, kWordBytes);
  }
  void add(std::string name, std::string_view tag, std::int64_t elements, std::int64_t bytes) {
    SavedTensor tensor = next_;
    tensor.name = std::move(name);
    tensor.tag = tag;
    tensor.elements = elements;
    tensor.element_bytes = bytes;
    if (tensor.bytes() > 0) {
      list_.push_back(std::move(tensor));
    }
  }

  const Layout& layout_;
  const ModelSpec& model_;
  const CaseSpec& spec_;
  int rank_;
  int tp_;
  std::int64_t rows_;    // of a micro-batch on a replica
  std::int64_t stream_;  // of them, those that this rank keeps between tensor-parallel regions
  std::int64_t heads_, key_heads_;
  SavedTensor next_;  // what the next ones have in common
  std::vector<SavedTensor> list_;
};

}  // namespace

std::vector<SavedTensor> saved_tensors(const Layout& layout, int rank) {
  return SavedList(layout, rank).all();
}

}  // namespace meshparity::expect
