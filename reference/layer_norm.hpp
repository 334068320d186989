// LayerNorm of each row: x^ = (x - mean) / sqrt(var + epsilon), y = w x^ + b (algorithms.md §0.6).
#pragma once
#include <vector>

#include "reference/gradient_sum.hpp"
#include "reference/rounding.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// What backward needs of forward.
struct NormTrace {
  Matrix normalised;         // x^
  Column inverse_deviation;  // 1 / sqrt(var + epsilon)
};

/// The affine parameters of one norm.
struct NormWeights {
  const Matrix& weight;  // [1, n]
  const Matrix& bias;    // [1, n]
  double epsilon;
};

void layer_norm(const Matrix& x, const NormWeights& norm, Rounding& rounding, NormTrace& trace,
                Matrix& y);

/// dw += sum dy x^, db += sum dy
void add_layer_norm_gradient(const Matrix& dy, const NormTrace& trace, NormPlace place,
                             std::vector<GradientSum>& gradients);
/// With q = w dy: dx = (q - mean(q) - x^ mean(q x^)) / sqrt(var + epsilon).
void layer_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                         Rounding& rounding, Matrix& dx);

}  // namespace meshparity::reference
