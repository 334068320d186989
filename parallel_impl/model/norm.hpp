// The model's norm, LayerNorm or RMSNorm, over whole rows of the stream. Where rows are cut, the
// gradients of its parameters are Part over tp.
#pragma once
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class NormLayer {
 public:
  /// What the backward pass needs of a micro-batch's forward pass.
  struct Saved {
    Saved(const RankParts<T>& parts, SavedTags tags);
    Tensor<T> x;              // the layer's input, owned by whoever made it
    Buffer<T> mean, inverse;  // a number a row; no mean with RMSNorm
  };

  /// A null bias is none.
  NormLayer(RankParts<T>& parts, Param<T>& weight, Param<T>* bias);

  /// From the stream into the stream. x must live until the backward pass.
  void forward(const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  /// Adds to the accumulators, then turns the gradient of the output into that of the input.
  void backward(Tensor<T>& grad, const Saved& saved);

 private:
  void round_statistics(Saved& saved) const;
  void layer_norm_backward(Tensor<T>& grad, const Saved& saved);
  void rms_norm_backward(Tensor<T>& grad, const Saved& saved);
  bool is_rms() const { return parts_.model.norm == Norm::rmsnorm; }
  int width() const { return weight_.count(); }

  RankParts<T>& parts_;
  Param<T>& weight_;
  Param<T>* bias_;
  Buffer<T> bias_grad_;
};

}  // namespace meshparity
