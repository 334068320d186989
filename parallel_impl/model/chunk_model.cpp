#include "parallel_impl/model/chunk_model.hpp"

namespace meshparity {
namespace {

/// Tensors that live no longer than a pass of their block are the candidate's own affair.
constexpr SavedTags kPassing = {MemoryTag::buffer, MemoryTag::buffer};
/// What a repeated pass leaves for the weights' gradients outlives the backward pass.
constexpr SavedTags kRepeated = {MemoryTag::buffer, MemoryTag::activation_W};

}  // namespace

template <class T>
ChunkModel<T>::Head::Head(const RankParts<T>& parts, SavedTags tags, int columns)
    : norm(parts, tags),
      normed(parts.backend, tags.until_weight_grad, parts.stream_count()),
      loss(parts, tags, columns) {}

template <class T>
ChunkModel<T>::Saved::Saved(const ChunkModel& model) {
  const RankParts<T>& parts = model.parts_;
  const SavedTags tags;
  if (model.has_embedding()) {
    embedding.emplace(parts, tags);
  } else {
    input = Buffer<T>(parts.backend, tags.until_input_grad, parts.stream_count());
  }
  blocks.resize(model.blocks_.size());
  for (std::size_t i = 0; i < blocks.size() && !model.repeats_blocks(); ++i) {
    blocks[i] = std::make_unique<BlockSaved>(parts, tags);
  }
  for (std::size_t i = 0; i < model.kept_outputs(); ++i) {
    outputs.emplace_back(parts.backend, tags.until_input_grad, parts.stream_count());
  }
  if (model.has_head()) {
    head.emplace(parts, tags, model.loss_->columns());
  }
}

template <class T>
ChunkModel<T>::ChunkModel(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation,
                          PieceRange pieces, double smoothing)
    : parts_(parts), pieces_(pieces) {
  if (pieces.holds(0)) {
    embedding_.emplace(parts, params.at("embed.weight"), params.find("embed.position"));
  }
  for (int layer = 0; layer < parts.model.layers; ++layer) {
    if (pieces.holds(layer + 1)) {
      blocks_.emplace_back(parts, params, rotation, layer);
    }
  }
  if (pieces.holds(parts.model.layers + 1)) {
    norm_.emplace(parts, params.at("final_norm.weight"), params.find("final_norm.bias"));
    loss_.emplace(parts, params.at("head.weight"), smoothing);
  }
  if (repeats_blocks() && !blocks_.empty()) {
    passing_ = std::make_unique<BlockSaved>(parts, kPassing);
  }
}

template <class T>
void ChunkModel<T>::enter(int piece, int next, std::string_view phase, const BatchPlace& place) {
  if (parts_.values == nullptr) {
    return;
  }
  parts_.values->gather(piece, {phase, place.step, place.mb});
  if (pieces_.holds(next)) {
    parts_.values->prefetch(next, {phase, place.step, place.mb});
  }
}

template <class T>
void ChunkModel<T>::leave(int piece) {
  if (parts_.values != nullptr) {
    parts_.values->release(piece);
  }
}

template <class T>
Tensor<T> ChunkModel<T>::input_of(const MicroBatch<T>& batch, Saved& saved) {
  if (embedding_) {
    parts_.beat();
    enter(0, 1, "forward", batch.place());
    const Tensor<T> out = embedding_->forward(batch, *saved.embedding);
    leave(0);
    return out;
  }
  return matrix_in(saved.input, parts_.extent.stream.count, parts_.stream());
}

template <class T>
Tensor<T> ChunkModel<T>::forward(const MicroBatch<T>& batch, Saved& saved) {
  parts_.records.begin(batch.place());
  Tensor<T> x = input_of(batch, saved);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    const int piece = piece_of_block(block);
    enter(piece, piece + 1, "forward", batch.place());
    x = block_forward(batch.place(), block, x, saved);
    leave(piece);
  }
  if (loss_) {
    enter(head_piece(), head_piece() + 1, "forward", batch.place());
    head_forward(batch, x, saved);
    leave(head_piece());
  }
  return x;
}

template <class T>
Tensor<T> ChunkModel<T>::block_forward(const BatchPlace& place, std::size_t block,
                                       const Tensor<T>& x, Saved& saved) {
  if (!repeats_blocks()) {
    return blocks_[block].forward(place, x, *saved.blocks[block]);
  }
  const Tensor<T> out = blocks_[block].forward(place, x, *passing_);
  if (block == saved.outputs.size()) {
    return out;
  }
  const Tensor<T> kept = matrix_in(saved.outputs[block], out.rows, out.tp);
  parts_.backend.run(Copy<T>{out.data, kept.data, out.count()});
  return kept;
}

template <class T>
void ChunkModel<T>::head_forward(const MicroBatch<T>& batch, const Tensor<T>& x, Saved& saved) {
  parts_.beat();
  Tensor<T> normed = matrix_in(saved.head->normed, x.rows, parts_.stream());
  norm_->forward(x, normed, saved.head->norm);
  parts_.pass_on(normed);
  parts_.records.features(Phase::forward, "final_norm", normed);
  loss_->forward(batch, normed, saved.head->loss);
}

template <class T>
void ChunkModel<T>::backward(const MicroBatch<T>& batch, Tensor<T>& grad, Saved& saved) {
  parts_.records.begin(batch.place());
  if (loss_) {
    enter(head_piece(), head_piece() - 1, "backward", batch.place());
    head_backward(batch, grad, saved);
    leave(head_piece());
  }
  for (std::size_t block = blocks_.size(); block-- > 0;) {
    const int piece = piece_of_block(block);
    enter(piece, piece - 1, "backward", batch.place());
    block_backward(batch, block, grad, saved);
    leave(piece);
  }
  if (embedding_) {
    parts_.beat();
    enter(0, -1, "backward", batch.place());
    embedding_->backward(batch, grad, *saved.embedding);
    leave(0);
    saved.embedding.reset();
  }
  saved.input.reset();
  saved.outputs.clear();
}

template <class T>
void ChunkModel<T>::head_backward(const MicroBatch<T>& batch, Tensor<T>& grad, Saved& saved) {
  parts_.beat();
  grad.tp = part();
  loss_->backward(batch, grad, saved.head->loss);
  parts_.pass_on(grad);
  parts_.records.features(Phase::backward, "final_norm", grad);
  norm_->backward(grad, saved.head->norm);
  parts_.pass_on(grad);
  if (!parts_.splits_backward) {
    saved.head.reset();
  } else {
    saved.head->norm.mean.reset();
    saved.head->norm.inverse.reset();
    saved.head->loss.release_for_weights();
  }
}

template <class T>
Tensor<T> ChunkModel<T>::kept_input(std::size_t block, Saved& saved) const {
  Buffer<T>& kept = block > 0    ? saved.outputs[block - 1]
                    : embedding_ ? saved.embedding->out
                                 : saved.input;
  return matrix_in(kept, parts_.extent.stream.count, parts_.stream());
}

template <class T>
typename ChunkModel<T>::BlockSaved& ChunkModel<T>::room_for_backward(std::size_t block,
                                                                     Saved& saved) {
  if (repeats_blocks() && !parts_.splits_backward) {
    return *passing_;
  }
  if (repeats_blocks()) {
    saved.blocks[block] = std::make_unique<BlockSaved>(parts_, kRepeated);
  }
  return *saved.blocks[block];
}

/// The block's forward pass once more, for its backward pass.
template <class T>
void ChunkModel<T>::repeat(const MicroBatch<T>& batch, std::size_t block, const Tensor<T>& x,
                           BlockSaved& held) {
  parts_.repeats = true;
  parts_.records.set_silent(true);
  blocks_[block].forward(batch.place(), x, held);
  parts_.records.set_silent(false);
  parts_.repeats = false;
}

template <class T>
void ChunkModel<T>::block_backward(const MicroBatch<T>& batch, std::size_t block, Tensor<T>& grad,
                                   Saved& saved) {
  BlockSaved& held = room_for_backward(block, saved);
  if (repeats_blocks()) {
    repeat(batch, block, kept_input(block, saved), held);
  }
  blocks_[block].backward(batch.place(), grad, held);
  if (!parts_.splits_backward) {
    saved.blocks[block].reset();
  } else {
    held.release_for_weights();
  }
}

template <class T>
void ChunkModel<T>::weight_backward(const BatchPlace& place, Saved& saved) {
  if (loss_) {
    loss_->weight_backward(place, saved.head->loss);
  }
  for (std::size_t block = blocks_.size(); block-- > 0;) {
    blocks_[block].weight_backward(place, *saved.blocks[block]);
  }
}

template class ChunkModel<double>;
template class ChunkModel<float>;

}  // namespace meshparity
