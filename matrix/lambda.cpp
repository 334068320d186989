#include "matrix/lambda.hpp"

#include <cmath>

namespace meshparity {

// Wilson and Hilferty: the cube roots of both mean squares are nearly normal, with variances
// a_i = 2 / (9 nu_i); the quantile is the cube root ratio q that solves A q^2 + B q + C = 0.
std::optional<double> lambda(double nu1, double nu2, double z) {
  if (!(nu1 > 0 && nu2 > 0 && z > 0)) {
    return std::nullopt;
  }
  const double a1 = 2 / (9 * nu1);
  const double a2 = 2 / (9 * nu2);
  const double a = (1 - a2) * (1 - a2) - z * z * a2;
  const double b = -2 * (1 - a1) * (1 - a2);
  const double c = (1 - a1) * (1 - a1) - z * z * a1;
  if (!(a > 0)) {
    return std::nullopt;
  }
  return std::pow((-b + std::sqrt(b * b - 4 * a * c)) / (2 * a), 1.5);
}

double deviate_for(std::int64_t blocks) {
  return std::sqrt(36 + 2 * std::log(static_cast<double>(blocks)));
}

}  // namespace meshparity
