// Vocabulary-parallel embedding: a rank gathers the tokens whose rows it owns, zeros elsewhere, and
// the sum over the ranks is exact. Learned positions are added to the result.
#pragma once
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class VocabEmbedding {
 public:
  struct Saved {
    Saved(const RankParts<T>& parts, SavedTags tags);
    Buffer<T> out;  // [stream rows, hidden]
    WordBuffer words;
  };

  VocabEmbedding(RankParts<T>& parts, Param<T>& table, Param<T>* positions);

  /// The input of the first block, in the stream.
  Tensor<T> forward(const MicroBatch<T>& batch, Saved& saved) const;
  /// Turns the gradient of the first block's input into that of the gathered rows, and adds each
  /// row to the table's accumulator in token order.
  void backward(const MicroBatch<T>& batch, Tensor<T>& grad, const Saved& saved) const;

 private:
  void add_positions(Tensor<T>& out) const;
  void tables_backward(const MicroBatch<T>& batch, const Tensor<T>& grad) const;
  int first_owned() const { return table_.slice.rows * parts_.tp.index; }

  RankParts<T>& parts_;
  Param<T>& table_;
  Param<T>* positions_;  // null: none
};

}  // namespace meshparity
