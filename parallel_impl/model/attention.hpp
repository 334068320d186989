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
    Saved(const RankParts<T>& parts, SavedTags tags);
    /// Room for what weight_backward reads later, where the schedule splits the backward pass.
    void keep_grads(const RankParts<T>& parts);
    /// Gives back what only the gradient of the input needs.
    void release_for_weights();

    Tensor<T> x;
    Buffer<T> q, context;  // [rows, head_width]
    Buffer<T> k, v;        // [rows, kv_width]
    typename HeadTransform<T>::Saved q_transform, k_transform;
    // Empty where they are computed again (Recompute::selective):
    Buffer<T> probs;       // [samples * heads * sequence, sequence], before dropout
    Buffer<T> sink_probs;  // [samples * heads * sequence], with sinks only
    WordBuffer words;
    // Empty unless kept:
    Buffer<T> grad_q, grad_k, grad_v;  // of what the projections made
    Buffer<T> kept_rows;               // [rows, hidden]
    Tensor<T> grad_rows;               // of the layer's output, all rows
  };

  AttentionLayer(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation,
                 int layer);

  /// From the stream into the stream.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;
  /// After it, where the schedule splits the backward pass; else part of it.
  void weight_backward(const BatchPlace& place, Saved& saved) const;

 private:
  /// What the projections made, as gradients.
  struct Grads {
    Tensor<T> q, k, v;
  };
  Grads grads(Saved& saved) const;
  bool drops_scores() const { return parts_.recompute == Recompute::selective; }
  Buffer<T>& probs(Saved& saved) const { return drops_scores() ? parts_.work.probs : saved.probs; }
  Buffer<T>& sink_probs(Saved& saved) const {
    return drops_scores() ? parts_.work.sink_probs : saved.sink_probs;
  }
  WordBuffer& words(Saved& saved) const { return drops_scores() ? parts_.work.words : saved.words; }
  void project(const Tensor<T>& x, Saved& saved) const;
  void attend(const BatchPlace& place, Saved& saved) const;
  void record_attended(Saved& saved) const;
  void attend_backward(Saved& saved) const;
  void transforms_backward(const BatchPlace& place, Saved& saved) const;
  void inputs_backward(const BatchPlace& place, Tensor<T>& grad_x, Saved& saved) const;
  void record_kv_grad(const BatchPlace& place, const char* record, const Tensor<T>& grad) const;
  AttentionShape shape() const;
  double scale() const;
  std::string name(const char* record) const;
  bool has_transform() const {
    return parts_.model.qk_norm || parts_.model.positions == Positions::rope;
  }
  GradForm grads_of_projections() const {
    return has_transform() ? GradForm::wide : GradForm::rounded;
  }

  RankParts<T>& parts_;
  int layer_;
  ColumnLinear<T> q_, k_, v_;
  HeadTransform<T> q_transform_, k_transform_;
  Param<T>* sink_;  // null: none
  RowLinear<T> out_;
};

}  // namespace meshparity
