// One pre-norm block: U = X + drop(attention(norm1(X))), Y = U + drop(mlp(norm2(U))).
#pragma once
#include <string>

#include "parallel_impl/model/attention.hpp"
#include "parallel_impl/model/mlp.hpp"
#include "parallel_impl/model/norm.hpp"

namespace meshparity {

template <class T>
class Block {
 public:
  struct Saved {
    explicit Saved(const RankParts<T>& parts, SavedTags tags = {});
    /// Gives back what only the gradient of the input needs.
    void release_for_weights();

    typename NormLayer<T>::Saved norm1, norm2;
    typename AttentionLayer<T>::Saved attention;
    typename MlpLayer<T>::Saved mlp;
    Buffer<T> normed1, residual, normed2, out;  // [stream rows, hidden]
    WordBuffer words1, words2;
  };

  Block(RankParts<T>& parts, Parameters<T>& params, const Rotation<T>& rotation, int layer);

  /// From the stream into the stream, in `saved`; x must live until the backward pass.
  Tensor<T> forward(const BatchPlace& place, const Tensor<T>& x, Saved& saved);
  /// Turns the gradient of the block's output into that of its input.
  void backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved);
  /// After it, where the schedule splits the backward pass; else part of it.
  void weight_backward(const BatchPlace& place, Saved& saved);

 private:
  Tensor<T> attention_half(const BatchPlace& place, const Tensor<T>& x, Saved& saved);
  Tensor<T> mlp_half(const BatchPlace& place, const Tensor<T>& x, Saved& saved);
  void mlp_half_backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved);
  void attention_half_backward(const BatchPlace& place, Tensor<T>& grad, Saved& saved);
  std::string name(const char* record) const;

  RankParts<T>& parts_;
  int layer_;
  NormLayer<T> norm1_, norm2_;
  AttentionLayer<T> attention_;
  MlpLayer<T> mlp_;
};

}  // namespace meshparity
