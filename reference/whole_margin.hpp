// For tests: how far a candidate's record is from its limit as a whole, F of bounds.md §3.2 with S
// = 2.
#pragma once
#include <cmath>
#include <cstddef>
#include <span>

#include "fixtures/companions.hpp"

namespace meshparity::reference {

/// Root of the upper quantile of F(n1, n2) at normal deviate z (Paulson).
inline double quantile_root(double n1, double n2, double z) {
  const double a1 = 2 / (9 * n1);
  const double a2 = 2 / (9 * n2);
  const double a = (1 - a2) * (1 - a2) - z * z * a2;
  const double b = -2 * (1 - a1) * (1 - a2);
  const double c = (1 - a1) * (1 - a1) - z * z * a1;
  return std::pow((-b + std::sqrt(b * b - 4 * a * c)) / (2 * a), 1.5);
}

/// Error over limit; 1 is the limit.
inline double whole_margin(std::span<const double> candidate, std::span<const double> exact,
                           const Companion& companion) {
  double squares = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    squares += (candidate[i] - exact[i]) * (candidate[i] - exact[i]);
  }
  const double ratio = std::sqrt(squares / static_cast<double>(exact.size()) / companion.total);
  return ratio /
         (2 * quantile_root(companion.effective, companion.samples * companion.effective, 6));
}

}  // namespace meshparity::reference
