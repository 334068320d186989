// The MLP: up column-parallel (and gate beside it, each cut alike), down row-parallel, the
// activation elementwise between them. One sum forward (output), one backward (input).
#pragma once
#include <optional>
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
    Buffer<T> up, act, gate;  // [rows, ffn]; gate is empty with GELU
  };

  MlpLayer(RankParts<T>& parts, Parameters<T>& params, int layer);

  /// From the stream into the stream.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;

 private:
  void activate(const Tensor<T>& x, Saved& saved) const;
  void activate_backward(Saved& saved) const;
  void inputs_backward(const BatchPlace& place, Tensor<T>& grad_x, Saved& saved) const;
  std::string name(const char* record) const;

  RankParts<T>& parts_;
  int layer_;
  std::optional<ColumnLinear<T>> gate_;
  ColumnLinear<T> up_;
  RowLinear<T> down_;
};

}  // namespace meshparity
