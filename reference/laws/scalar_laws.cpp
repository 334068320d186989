#include "reference/laws/scalar_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace meshparity::reference {
namespace {

constexpr Wide kGuard = 1e-6;  // the double that every side adds to the norm

}  // namespace

Demand clip_norm(std::span<const std::vector<Wide>> distinct_gradients, const StepType& type) {
  Wide squares = 0;
  for (const std::vector<Wide>& gradient : distinct_gradients) {
    for (const Wide element : gradient) {
      squares += element * element;
    }
  }
  const Wide norm = std::sqrt(squares);
  return {norm, 4 * type.u * norm};
}

std::string clip_norm_derivation(const StepType& type) {
  return fmt::format(
      "sqrt of the sum of squares of the candidate's own gradients; 4 u |norm| x 1.01, u = {}, "
      "squares added without rounding or in FP64",
      type.roundoff_text);
}

Demand clip_coefficient(std::optional<double> limit, double norm, const StepType& type) {
  if (!limit) {
    return {1, 0};
  }
  const Wide quotient = static_cast<Wide>(*limit) / (static_cast<Wide>(norm) + kGuard);
  // Not std::min, which would turn a NaN into 1.
  const Wide coefficient = quotient >= 1 ? 1 : quotient;
  return {coefficient, 3 * type.u * coefficient};
}

std::string clip_coefficient_derivation(const StepType& type) {
  return fmt::format(
      "min(1, limit / (norm + 1e-6)) of the candidate's own norm; 3 u x 1.01, u = {}: sum, "
      "quotient, cast",
      type.roundoff_text);
}

Demand loss_sum(std::span<const double> token_losses, double tokens, const StepType& type) {
  Wide sum = 0;
  Wide magnitude = 0;
  for (const double loss : token_losses) {
    sum += loss;
    magnitude += std::abs(loss);
  }
  const Wide factor = tokens > 0 ? 1 / static_cast<Wide>(tokens) : 0;
  return {sum * factor, 4 * type.u * magnitude * factor};
}

std::string loss_sum_derivation(const StepType& type) {
  return fmt::format(
      "sum of the candidate's own token losses over the count of tokens; 4 u sum|loss_i| / tokens "
      "x 1.01, u = {}, added without rounding or in FP64",
      type.roundoff_text);
}

}  // namespace meshparity::reference
