// Y = X W + 1 b^T, and every other product with a weight.
#pragma once
#include "reference/gradient_sum.hpp"
#include "reference/rounding.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// y = x w; x [tokens, in], w [in, out].
void multiply(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y);
/// y = x w^T; x [tokens, out], w [in, out].
void multiply_transposed(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y);

/// y = x w + bias where there is one
void linear(const Matrix& x, const Weights& weights, LinearPlace place, Rounding& rounding,
            Matrix& y);
/// sum += left^T right, one term a token
void add_product(const Matrix& left, const Matrix& right, Rounding& rounding, GradientSum& sum);
/// dW += x^T dy, db += sum of the rows of dy
void add_linear_gradient(const Matrix& x, const Matrix& dy, LinearPlace place, Rounding& rounding,
                         std::vector<GradientSum>& gradients);

}  // namespace meshparity::reference
