// Attention with heads cut over the tensor-parallel group: q, k, v column-parallel, softmax local
// to a head, output row-parallel. One sum forward (output), one backward (input). With fewer key
// heads than ranks, several ranks hold the same one (algorithms.md §1.4, A).
#pragma once
#include <string>

#include "parallel_impl/model/column_linear.hpp"
#include "parallel_impl/model/head_transform.hpp"
#include "parallel_impl/model/row_linear.hpp"

namespace meshparity {

template <class T>
class AttentionLayer {
 public:
  struct Saved {
    Saved(const RankParts<T>& parts);
    Tensor<T> x;
    Buffer<T> q, context;  // [rows, head_width]
    Buffer<T> k, v;        // [rows, kv_width]
    typename HeadTransform<T>::Saved q_transform, k_transform;
    Buffer<T> probs;       // [samples * heads * sequence, sequence], before dropout
    Buffer<T> sink_probs;  // [samples * heads * sequence], with sinks only
    WordBuffer words;
  };

  AttentionLayer(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation,
                 int layer);

  /// From the stream into the stream.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;

 private:
  void project(const Tensor<T>& x, Saved& saved) const;
  void attend(const BatchPlace& place, Saved& saved) const;
  void attend_backward(Saved& saved) const;
  void transforms_backward(const BatchPlace& place, Saved& saved) const;
  void projections_backward(const BatchPlace& place, Tensor<T>& grad_x, Saved& saved) const;
  void record_kv_grad(const BatchPlace& place, const char* record, const Tensor<T>& grad) const;
  AttentionShape shape() const;
  double scale() const;
  std::string name(const char* record) const;
  bool has_transform() const {
    return parts_.model.qk_norm || parts_.model.positions == Positions::rope;
  }

  RankParts<T>& parts_;
  int layer_;
  ColumnLinear<T> q_, k_, v_;
  HeadTransform<T> q_transform_, k_transform_;
  Param<T>* sink_;  // null: none
  RowLinear<T> out_;
};

}  // namespace meshparity
