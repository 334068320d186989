#include "reference/laws/optimizer_laws.hpp"

#include <fmt/format.h>

#include <cmath>

namespace meshparity::reference {

Demand MomentumLaw::moment1(Wide m, Wide g) const {
  const Wide next = mu * m + g;
  return {next, type.u * (2 * mu * std::abs(m) + 5 * std::abs(g) + std::abs(next))};
}

std::string MomentumLaw::derivation() const {
  return fmt::format("m' = mu m + g; u (2 mu |m| + 5 |g| + |m'|) x 1.01, u = {}",
                     type.roundoff_text);
}

Demand DescentLaw::update(Wide theta, Wide direction) const {
  const Wide step = learning_rate * direction;
  const Wide next = theta - step;
  return {next, type.u * (roundings * std::abs(step) + std::abs(next))};
}

std::string DescentLaw::derivation() const {
  return fmt::format("theta' = theta - lr d; u ({} lr |d| + |theta'|) x 1.01, u = {}", roundings,
                     type.roundoff_text);
}

Wide AdamwLaw::condition(double beta) const {
  return type.short_constants ? static_cast<Wide>(beta) / (1 - static_cast<Wide>(beta)) : 0;
}

Wide AdamwLaw::correction(double beta) const {
  return 1 - std::pow(static_cast<Wide>(beta), static_cast<Wide>(t));
}

Wide AdamwLaw::power_condition(double beta) const {
  const Wide rest = correction(beta);
  return static_cast<Wide>(t) * (1 - rest) / rest;
}

Demand AdamwLaw::moment1(Wide m, Wide g) const {
  const Wide b = beta1;
  const Wide next = b * m + (1 - b) * g;
  const Wide terms =
      2 * b * std::abs(m) + (condition(beta1) + 7) * (1 - b) * std::abs(g) + std::abs(next);
  return {next, type.u * terms};
}

Demand AdamwLaw::moment2(Wide v, Wide g) const {
  const Wide b = beta2;
  const Wide next = b * v + (1 - b) * g * g;
  const Wide terms =
      2 * b * std::abs(v) + (condition(beta2) + 12) * (1 - b) * g * g + std::abs(next);
  return {next, type.u * terms + type.smallest};
}

Demand AdamwLaw::update(Wide theta, Wide m, Wide v) const {
  const Wide root = std::sqrt(v / correction(beta2));
  const Wide step = learning_rate * (m / correction(beta1)) / (root + epsilon);
  const Wide next = theta - static_cast<Wide>(learning_rate) * weight_decay * theta - step;
  const Wide roundings = power_condition(beta1) + power_condition(beta2) / 2 + 7.5L;
  return {next, type.u * (std::abs(step) * roundings + 2 * std::abs(theta) + std::abs(next))};
}

std::string AdamwLaw::moment1_derivation() const {
  return fmt::format(
      "m' = b1 m + (1-b1) g; u (2 b1 |m| + (k1+7)(1-b1)|g| + |m'|) x 1.01, k1 = {:.4g}, u = {}",
      static_cast<double>(condition(beta1)), type.roundoff_text);
}

std::string AdamwLaw::moment2_derivation() const {
  return fmt::format(
      "v' = b2 v + (1-b2) g^2; (u (2 b2 v + (k2+12)(1-b2) g^2 + v') + smallest subnormal) x 1.01, "
      "k2 = {:.4g}, u = {}",
      static_cast<double>(condition(beta2)), type.roundoff_text);
}

std::string AdamwLaw::update_derivation() const {
  return fmt::format(
      "theta' from the candidate's own theta, m', v' (step s, t {}); u (|s| (c1 + c2/2 + 7.5) + 2 "
      "|theta| + |theta'|) x 1.01, c1 = {:.4g}, c2 = {:.4g}, u = {}",
      t, static_cast<double>(power_condition(beta1)), static_cast<double>(power_condition(beta2)),
      type.roundoff_text);
}

}  // namespace meshparity::reference
