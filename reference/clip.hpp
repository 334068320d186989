// Clipping by the global norm: coef = min(1, C / (norm + 1e-6)) (algorithms.md §8.5).
#pragma once
#include <optional>
#include <span>

#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// Square root of the sum of squares over all elements of all matrices.
double global_norm(std::span<const Matrix> gradients, Rounding& rounding);

struct Clip {
  double coefficient = 1;
  double margin = 0;  // norm - limit
  bool active = false;
};
/// Without a limit: coefficient 1. `frozen` is the choice to take instead of the norm's own.
Clip clip(double norm, std::optional<double> limit, std::optional<bool> frozen, Rounding& rounding);

}  // namespace meshparity::reference
