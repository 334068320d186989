// The norm of each row, of either kind: y = w x^ + b (algorithms.md §0.6).
#pragma once
#include <vector>

#include "fixtures/model_spec.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/rounding.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// What backward needs of forward.
struct NormTrace {
  Matrix normalised;         // x^
  Column inverse_deviation;  // layernorm: 1 / sqrt(var + epsilon); rmsnorm: of the mean square
};

/// The affine parameters of one norm.
struct NormWeights {
  const Matrix& weight;  // [1, n]
  const Matrix* bias;    // [1, n]; nullptr: none
  double epsilon;
  Norm kind = Norm::layernorm;
};

void norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
          Matrix& y);
void norm_backward(const Matrix& dy, const NormWeights& weights, const NormTrace& trace,
                   Rounding& rounding, Matrix& dx);
/// dw += sum dy x^, db += sum dy where there is a bias
void add_norm_gradient(const Matrix& dy, const NormTrace& trace, NormPlace place,
                       std::vector<GradientSum>& gradients);

// The two kinds.

/// x^ = (x - mean) / sqrt(var + epsilon)
void layer_norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
                Matrix& y);
/// With q = w dy: dx = (q - mean(q) - x^ mean(q x^)) / sqrt(var + epsilon).
void layer_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                         Rounding& rounding, Matrix& dx);

/// x^ = x / sqrt(mean(x^2) + epsilon)
void rms_norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
              Matrix& y);
/// With q = w dy: dx = (q - x^ mean(q x^)) / sqrt(mean(x^2) + epsilon).
void rms_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                       Rounding& rounding, Matrix& dx);

}  // namespace meshparity::reference
