// Row-parallel linear: the weight is cut by inputs. Y = sum over ranks of X_r W_r, plus the whole
// bias once, after the sum; the gradient of X_r is dY W_r^T, without any communication.
#pragma once
#include <string>

#include "parallel_impl/model/linear.hpp"
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class RowLinear {
 public:
  /// `role` names the sum's site, "attn.out" or "mlp.down"; a null bias is none.
  RowLinear(RankParts<T>& parts, Param<T>& weight, Param<T>* bias, std::string role);

  /// x Shard(1) -> out in the stream's state.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out) const;
  /// The gradient of `out` with all its rows, Rep: grad_out itself or, where rows are cut, gathered
  /// into memory. With room in `kept` always there, so that it outlives the layer's backward pass.
  Tensor<T> all_rows_of(const BatchPlace& place, const Tensor<T>& grad_out, Buffer<T>& kept) const;
  /// grad_out Rep -> grad_x Shard(1).
  void input_grad(const Tensor<T>& grad_out, Tensor<T>& grad_x) const;
  /// grad_out Rep.
  void weight_grad(const Tensor<T>& x, const Tensor<T>& grad_out) const;
  /// grad_out in the stream's state: with cut rows the bias gradient is Part over tp.
  void bias_grad(const Tensor<T>& grad_out) const;

 private:
  bool adds_bias_everywhere(const BatchPlace& place) const;
  void add_bias(Tensor<T>& out) const;
  GradForm grads() const;

  RankParts<T>& parts_;
  Param<T>& weight_;
  Param<T>* bias_;
  std::string role_;
};

}  // namespace meshparity
