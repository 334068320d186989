// Column-parallel linear: the weight is cut by outputs. Y_r = X W_r + b_r is Shard(1) without any
// communication; the gradient of X is the sum over the ranks of dY_r W_r^T (operator f).
#pragma once
#include "parallel_impl/model/linear.hpp"
#include "parallel_impl/model/rank_parts.hpp"

namespace meshparity {

template <class T>
class ColumnLinear {
 public:
  ColumnLinear(RankParts<T>& parts, Param<T>& weight, Param<T>* bias,
               GradForm grads = GradForm::rounded);

  /// x Rep -> out Shard(1).
  void forward(const Tensor<T>& x, Tensor<T>& out) const;
  /// grad_out Shard(1) -> grad_x Part; the caller sums it, after adding its siblings'.
  void input_grad(const Tensor<T>& grad_out, Tensor<T>& grad_x) const;
  /// Adds x^T grad_out, and for a bias the sums of grad_out's columns, to the accumulators.
  void weight_grad(const Tensor<T>& x, const Tensor<T>& grad_out) const;

 private:
  RankParts<T>& parts_;
  Param<T>& weight_;
  Param<T>* bias_;  // null: none
  GradForm grads_;
};

}  // namespace meshparity
