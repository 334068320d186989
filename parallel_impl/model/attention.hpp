// Attention with heads cut over the tensor-parallel group: q, k, v column-parallel, softmax local
// to a head, output row-parallel. One sum forward (output), one backward (input).
#pragma once
#include <string>

#include "parallel_impl/model/column_linear.hpp"
#include "parallel_impl/model/row_linear.hpp"

namespace meshparity {

template <class T>
class AttentionLayer {
 public:
  struct Saved {
    Saved(const RankParts<T>& parts);
    Tensor<T> x;
    Buffer<T> q, k, v, context;  // [rows, head_width]
    Buffer<T> probs;             // [samples * heads * sequence, sequence], before dropout
    WordBuffer words;
  };

  AttentionLayer(RankParts<T>& parts, Parameters<T>& params, int layer);

  /// x Rep -> out Rep.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  /// grad_out Rep -> grad_x Rep.
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;

 private:
  void attend(const BatchPlace& place, Saved& saved) const;
  void attend_backward(Saved& saved) const;
  void projections_backward(const BatchPlace& place, Tensor<T>& grad_x, Saved& saved) const;
  AttentionShape shape() const;
  T scale() const;
  std::string name(const char* record) const;

  RankParts<T>& parts_;
  int layer_;
  ColumnLinear<T> q_, k_, v_;
  RowLinear<T> out_;
};

}  // namespace meshparity
