// The MLP gelu(X A + a) B + b: A column-parallel, B row-parallel, nothing between them travels. One
// sum forward (after B), one backward (before A).
#pragma once
#include <string>

#include "parallel_impl/model/column_linear.hpp"
#include "parallel_impl/model/row_linear.hpp"

namespace meshparity {

template <class T>
class MlpLayer {
 public:
  struct Saved {
    Saved(const RankParts<T>& parts);
    Tensor<T> x;
    Buffer<T> up, act;  // [rows, ffn]
  };

  MlpLayer(RankParts<T>& parts, Parameters<T>& params, int layer);

  /// x Rep -> out Rep.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  /// grad_out Rep -> grad_x Rep.
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;

 private:
  std::string name(const char* record) const;

  RankParts<T>& parts_;
  int layer_;
  ColumnLinear<T> up_;
  RowLinear<T> down_;
};

}  // namespace meshparity
