// The head, column-parallel over the vocabulary, and the cross entropy on logits that stay cut:
// three all-reduces of one number a token (maximum, the label's logit, sum of exponentials). With
// label smoothing the third carries a second number a token, the sum of the logits.
#pragma once
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class VocabCrossEntropy {
 public:
  struct Saved {
    Saved(const RankParts<T>& parts, SavedTags tags, int columns);
    /// Gives back what only the gradient of the input needs.
    void release_for_weights();

    Tensor<T> x;
    Buffer<T> logits;   // [rows, columns]; their gradient after the backward pass
    Buffer<T> row_max;  // [rows], and so are the others
    Buffer<T> target;
    Buffer<T> sums;  // [2, rows]: of exponentials, of logits
    Buffer<T> loss;  // weight * loss of each token
  };

  /// `smoothing` is 0 where the case switches it off.
  VocabCrossEntropy(RankParts<T>& parts, Param<T>& head, double smoothing);

  int columns() const { return slice_.width; }

  /// From the stream's last norm to losses Rep, in `saved`.
  void forward(const MicroBatch<T>& batch, const Tensor<T>& normed, Saved& saved) const;
  /// The gradient of the sum of weighted losses with respect to it, in the stream.
  void backward(const MicroBatch<T>& batch, Tensor<T>& grad_x, Saved& saved) const;
  /// After it, where the schedule splits the backward pass; else part of it.
  void weight_backward(const BatchPlace& place, Saved& saved) const;

 private:
  void losses(const MicroBatch<T>& batch, Saved& saved) const;
  std::span<T> summed(Saved& saved) const;

  RankParts<T>& parts_;
  Param<T>& head_;
  double smoothing_;
  VocabularySlice slice_;
};

}  // namespace meshparity
