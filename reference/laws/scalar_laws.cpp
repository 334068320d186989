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

Demand loss_sum(std::span<const double> token_losses, const LossShares& shares,
                const StepType& type) {
  const std::size_t groups = shares.of_group.size();
  const std::size_t tokens = token_losses.size() / groups;
  Wide sum = 0;
  Wide magnitude = 0;
  for (std::size_t i = 0; i < token_losses.size(); ++i) {
    const Wide term = static_cast<Wide>(shares.of_group[i / tokens]) * token_losses[i];
    sum += term;
    magnitude += std::abs(term);
  }
  const Wide factor = shares.divisor > 0 ? 1 / static_cast<Wide>(shares.divisor) : 0;
  const Wide roundings = groups > 1 ? 5 + static_cast<Wide>(groups) : 4;
  return {sum * factor, roundings * type.u * magnitude * factor};
}

std::string loss_sum_derivation(const StepType& type) {
  return fmt::format(
      "mean of the candidate's own token losses by the loss mode; 4 u mean|loss_i|, of G means (5 "
      "+ "
      "G) u, x 1.01, u = {}, added without rounding or in FP64",
      type.roundoff_text);
}

}  // namespace meshparity::reference
