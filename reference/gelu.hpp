// GELU by the error function: y = x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2.
#pragma once
#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// `cdf` becomes Phi(x), which backward needs.
void gelu(const Matrix& x, Rounding& rounding, Matrix& cdf, Matrix& y);

/// dx = dy (Phi(x) + x phi(x)), phi(x) = exp(-x^2/2) / sqrt(2 pi)
void gelu_backward(const Matrix& x, const Matrix& cdf, const Matrix& dy, Rounding& rounding,
                   Matrix& dx);

}  // namespace meshparity::reference
