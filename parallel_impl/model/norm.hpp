// LayerNorm over whole rows, the same on every tensor-parallel rank.
#pragma once
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class NormLayer {
 public:
  /// What the backward pass needs of a micro-batch's forward pass.
  struct Saved {
    Saved(const LocalExtent& extent, Memory& memory);
    Tensor<T> x;  // the layer's input, owned by whoever made it
    Buffer<T> mean, inverse_sigma;
  };

  NormLayer(RankParts<T>& parts, Param<T>& weight, Param<T>& bias);

  /// x Rep -> out Rep. x must live until the backward pass.
  void forward(const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  /// Adds to the accumulators, then turns the gradient of the output into that of the input.
  void backward(Tensor<T>& grad, const Saved& saved);

 private:
  RankParts<T>& parts_;
  Param<T>& weight_;
  Param<T>& bias_;
  Buffer<T> bias_grad_;
};

}  // namespace meshparity
