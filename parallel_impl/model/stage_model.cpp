#include "parallel_impl/model/stage_model.hpp"

namespace meshparity {

template <class T>
StageModel<T>::Saved::Saved(const StageModel& model)
    : embedding(model.parts_),
      norm(model.parts_),
      normed(model.parts_.backend, MemoryTag::activation_W, model.parts_.stream_count()),
      loss(model.parts_, model.loss_.columns()) {
  blocks.reserve(model.blocks_.size());
  for (std::size_t i = 0; i < model.blocks_.size(); ++i) {
    blocks.emplace_back(model.parts_);
  }
}

template <class T>
StageModel<T>::StageModel(RankParts<T>& parts, Parameters<T>& params, double smoothing)
    : parts_(parts),
      rotation_(parts.model, parts.backend),
      embedding_(parts, params.at("embed.weight"), params.find("embed.position")),
      norm_(parts, params.at("final_norm.weight"), params.find("final_norm.bias")),
      loss_(parts, params.at("head.weight"), smoothing),
      grad_(parts.backend, MemoryTag::buffer, parts.stream_count()) {
  blocks_.reserve(static_cast<std::size_t>(parts.model.layers));
  for (int layer = 0; layer < parts.model.layers; ++layer) {
    blocks_.emplace_back(parts, params, rotation_, layer);
  }
}

template <class T>
void StageModel<T>::forward(const MicroBatch<T>& batch, Saved& saved) {
  const BatchPlace& place = batch.place();
  parts_.records.begin(place);
  parts_.beat();
  Tensor<T> x = embedding_.forward(batch, saved.embedding);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    x = blocks_[i].forward(place, x, saved.blocks[i]);
  }
  parts_.beat();
  Tensor<T> normed = matrix_in(saved.normed, x.rows, parts_.stream());
  norm_.forward(x, normed, saved.norm);
  parts_.records.features(Phase::forward, "final_norm", normed);
  loss_.forward(batch, normed, saved.loss);
}

template <class T>
void StageModel<T>::backward(const MicroBatch<T>& batch, Saved& saved) {
  parts_.records.begin(batch.place());
  parts_.beat();
  Tensor<T> grad = matrix_in(grad_, parts_.extent.stream.count, part());
  loss_.backward(batch, grad, saved.loss);
  parts_.records.features(Phase::backward, "final_norm", grad);
  norm_.backward(grad, saved.norm);
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    blocks_[i].backward(batch.place(), grad, saved.blocks[i]);
  }
  parts_.beat();
  embedding_.backward(batch, grad, saved.embedding);
}

template class StageModel<double>;
template class StageModel<float>;

}  // namespace meshparity
