// The whole model on one rank: embedding, blocks, final norm, head and loss; one micro-batch
// forward, then backward into the accumulators of the parameters' gradients.
#pragma once
#include <vector>

#include "parallel_impl/model/block.hpp"
#include "parallel_impl/model/vocab_cross_entropy.hpp"
#include "parallel_impl/model/vocab_embedding.hpp"

namespace meshparity {

template <class T>
class StageModel {
 public:
  /// All that one micro-batch leaves between its forward and its backward pass.
  struct Saved {
    explicit Saved(const StageModel& model);
    typename VocabEmbedding<T>::Saved embedding;
    std::vector<typename Block<T>::Saved> blocks;
    typename NormLayer<T>::Saved norm;
    Buffer<T> normed;
    typename VocabCrossEntropy<T>::Saved loss;
  };

  StageModel(RankParts<T>& parts, Parameters<T>& params, double smoothing);

  void forward(const MicroBatch<T>& batch, Saved& saved);
  void backward(const MicroBatch<T>& batch, Saved& saved);

 private:
  RankParts<T>& parts_;
  Rotation<T> rotation_;
  VocabEmbedding<T> embedding_;
  std::vector<Block<T>> blocks_;
  NormLayer<T> norm_;
  VocabCrossEntropy<T> loss_;
  Buffer<T> grad_;  // [stream rows, hidden], on its way back
};

}  // namespace meshparity
