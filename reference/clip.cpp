#include "reference/clip.hpp"

#include <cmath>

namespace meshparity::reference {
namespace {

constexpr double kGuard = 1e-6;  // keeps the quotient finite for a zero gradient

}  // namespace

double global_norm(std::span<const Matrix> gradients, Rounding& rounding) {
  double squares = 0;
  double fourth_powers = 0;  // squares of the terms of that sum
  double terms = 0;
  for (const Matrix& gradient : gradients) {
    squares += gradient.squaredNorm();
    if (!rounding.is_exact()) {
      fourth_powers += gradient.cwiseAbs2().squaredNorm();
    }
    terms += static_cast<double>(gradient.size());
  }
  return rounding.elementwise(std::sqrt(rounding.sum(squares, fourth_powers, terms)));
}

Clip clip(double norm, std::optional<double> limit, std::optional<bool> frozen,
          Rounding& rounding) {
  if (!limit) {
    return {};
  }
  const double guard = rounding.constant(Constant::clip_guard, kGuard);
  const double guarded = rounding.elementwise(norm + guard);
  const double quotient = rounding.elementwise(*limit / guarded);
  const bool active = frozen.value_or(quotient < 1);
  return {active ? quotient : 1, rounding.elementwise(norm - *limit), active};
}

}  // namespace meshparity::reference
