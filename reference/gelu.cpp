#include "reference/gelu.hpp"

#include <cmath>
#include <numbers>

namespace meshparity::reference {
namespace {

constexpr double kRootTwo = std::numbers::sqrt2;
constexpr double kInverseRootTwoPi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

}  // namespace

void gelu(const Matrix& x, Rounding& rounding, Matrix& cdf, Matrix& y) {
  cdf = x / rounding.constant(Constant::root_two, kRootTwo);
  rounding.elementwise(cdf);
  cdf = cdf.unaryExpr([](double argument) { return std::erf(argument); });
  rounding.elementwise(cdf);
  cdf.array() += 1;
  rounding.elementwise(cdf);
  cdf *= 0.5;
  y = x.cwiseProduct(cdf);
  rounding.elementwise(y);
}

void gelu_backward(const Matrix& x, const Matrix& cdf, const Matrix& dy, Rounding& rounding,
                   Matrix& dx) {
  dx = -0.5 * x.cwiseAbs2();
  rounding.elementwise(dx);
  const double factor = rounding.constant(Constant::inverse_root_two_pi, kInverseRootTwoPi);
  dx = dx.array().exp() * factor * x.array();
  rounding.elementwise(dx, 3);
  dx += cdf;
  rounding.elementwise(dx);
  dx.array() *= dy.array();
  rounding.elementwise(dx);
}

}  // namespace meshparity::reference
