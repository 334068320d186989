// A run of the model's pieces on one rank, a chunk of a pipeline (algorithms.md §3.1): perhaps the
// embedding, some blocks, perhaps the last norm with the head and the loss. Without a pipeline the
// one chunk is the whole model.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "parallel_impl/model/block.hpp"
#include "parallel_impl/model/vocab_cross_entropy.hpp"
#include "parallel_impl/model/vocab_embedding.hpp"
#include "parallel_impl/pipeline/stages.hpp"

namespace meshparity {

template <class T>
class ChunkModel {
 public:
  struct Head {
    Head(const RankParts<T>& parts, SavedTags tags, int columns);
    typename NormLayer<T>::Saved norm;
    Buffer<T> normed;
    typename VocabCrossEntropy<T>::Saved loss;
  };
  /// All that one micro-batch leaves in a chunk between its forward and its backward pass; with
  /// full recomputation of a block only what goes in.
  struct Saved {
    explicit Saved(const ChunkModel& model);
    std::optional<typename VocabEmbedding<T>::Saved> embedding;
    Buffer<T> input;  // from the chunk before; empty on the first
    std::vector<std::unique_ptr<typename Block<T>::Saved>> blocks;  // null: not kept
    std::vector<Buffer<T>> outputs;  // of blocks that are computed again, but for one that leaves
    std::optional<Head> head;
  };

  ChunkModel(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation,
             PieceRange pieces, double smoothing);

  bool has_embedding() const { return embedding_.has_value(); }
  bool has_head() const { return loss_.has_value(); }

  /// Without an embedding `saved.input` holds what the chunk before made. Returns what the next
  /// chunk takes (valid until the next pass on this rank); of the last chunk, its last norm's
  /// input.
  Tensor<T> forward(const MicroBatch<T>& batch, Saved& saved);
  /// Turns the gradient of the chunk's output into that of its input; where the head is here,
  /// `grad` is only written. Gives back what the gradients of the weights do not need.
  void backward(const MicroBatch<T>& batch, Tensor<T>& grad, Saved& saved);
  /// After it, where the schedule splits the backward pass; else part of it.
  void weight_backward(const BatchPlace& place, Saved& saved);

 private:
  /// Where ZeRO cuts values: those of the piece are there until leave, those of the next are on
  /// their way.
  void enter(int piece, int next, std::string_view phase, const BatchPlace& place);
  void leave(int piece);
  int piece_of_block(std::size_t block) const {
    return pieces_.first + (embedding_ ? 1 : 0) + static_cast<int>(block);
  }
  int head_piece() const { return parts_.model.layers + 1; }
  Tensor<T> input_of(const MicroBatch<T>& batch, Saved& saved);
  Tensor<T> block_forward(const BatchPlace& place, std::size_t block, const Tensor<T>& x,
                          Saved& saved);
  void head_forward(const MicroBatch<T>& batch, const Tensor<T>& x, Saved& saved);
  void head_backward(const MicroBatch<T>& batch, Tensor<T>& grad, Saved& saved);
  void block_backward(const MicroBatch<T>& batch, std::size_t block, Tensor<T>& grad, Saved& saved);
  using BlockSaved = typename Block<T>::Saved;
  BlockSaved& room_for_backward(std::size_t block, Saved& saved);
  void repeat(const MicroBatch<T>& batch, std::size_t block, const Tensor<T>& x, BlockSaved& held);
  Tensor<T> kept_input(std::size_t block, Saved& saved) const;
  bool repeats_blocks() const { return parts_.recompute == Recompute::full; }
  /// Blocks whose output is the input of a block, or of the last norm, that is computed again.
  std::size_t kept_outputs() const {
    return !repeats_blocks() || blocks_.empty() ? 0 : blocks_.size() - (loss_ ? 0 : 1);
  }

  RankParts<T>& parts_;
  PieceRange pieces_;
  std::optional<VocabEmbedding<T>> embedding_;
  std::vector<Block<T>> blocks_;
  std::optional<NormLayer<T>> norm_;
  std::optional<VocabCrossEntropy<T>> loss_;
  std::unique_ptr<BlockSaved> passing_;  // of any block whose tensors are not kept
};

}  // namespace meshparity
