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
    Saved(const RankParts<T>& parts, SavedTags tags);
    /// Room for what weight_backward reads later, where the schedule splits the backward pass.
    void keep_grads(const RankParts<T>& parts);
    /// Gives back what only the gradient of the input needs.
    void release_for_weights();

    Tensor<T> x;
    Buffer<T> up, act, gate;       // [rows, ffn]; gate is empty with GELU
    Buffer<T> grad_up, grad_gate;  // likewise, empty unless kept
    Buffer<T> kept_rows;           // [rows, hidden], empty unless kept
    Tensor<T> grad_rows;           // of the layer's output, all rows
  };

  MlpLayer(RankParts<T>& parts, Parameters<T>& params, int layer);

  /// From the stream into the stream.
  void forward(const BatchPlace& place, const Tensor<T>& x, Tensor<T>& out, Saved& saved) const;
  void backward(const BatchPlace& place, const Tensor<T>& grad_out, Tensor<T>& grad_x,
                Saved& saved) const;
  /// After it, where the schedule splits the backward pass; else part of it.
  void weight_backward(const BatchPlace& place, Saved& saved) const;

 private:
  void activate(const Tensor<T>& x, Saved& saved) const;
  Tensor<T> grad_up(Saved& saved) const;
  Tensor<T> grad_gate(Saved& saved) const;
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
