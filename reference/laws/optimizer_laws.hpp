// Laws of one optimizer step, element by element, with the worst case of its roundings (bounds.md
// §3.4). g is the clipped gradient: coefficient x (sum of a tied weight's two gradients).
#pragma once
#include <cstdint>
#include <string>

#include "reference/laws/law.hpp"

namespace meshparity::reference {

/// m' = mu m + g: u (2 mu |m| + 5 |g| + |m'|)
struct MomentumLaw {
  Wide mu;
  StepType type;
  Demand moment1(Wide m, Wide g) const;
  std::string derivation() const;
};

/// theta' = theta - lr d: u (k lr |d| + |theta'|). With momentum d is the dumped m', k 2; without
/// it d is g, whose own roundings count as well, k 8.
struct DescentLaw {
  Wide learning_rate;
  int roundings;  // k
  StepType type;
  Demand update(Wide theta, Wide direction) const;
  std::string derivation() const;
};

struct AdamwLaw {
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;  // 0 where the parameter does not decay
  std::int64_t t;       // counts steps from 1
  StepType type;

  /// m' = b1 m + (1-b1) g: u (2 b1 |m| + (k1+7)(1-b1)|g| + |m'|), k1 = b1/(1-b1)
  Demand moment1(Wide m, Wide g) const;
  /// v' = b2 v + (1-b2) g^2: u (2 b2 v + (k2+12)(1-b2) g^2 + v') + smallest subnormal,
  /// k2 = b2/(1-b2)
  Demand moment2(Wide v, Wide g) const;
  /// theta' = theta - lr wd theta - s, s = lr (m'/(1-b1^t)) / (sqrt(v'/(1-b2^t)) + eps), from the
  /// dumped m' and v': u (|s| (c1 + c2/2 + 7.5) + 2 |theta| + |theta'|)
  Demand update(Wide theta, Wide m, Wide v) const;

  std::string moment1_derivation() const;
  std::string moment2_derivation() const;
  std::string update_derivation() const;

 private:
  /// k: what a rounding of beta does to 1 - beta. In FP64 that difference of float32 numbers is
  /// exact, so k is 0 there.
  Wide condition(double beta) const;
  /// c = t b^t / (1-b^t): the same for 1 - b^t. b^t is rounded in every type, FP64 included.
  Wide power_condition(double beta) const;
  Wide correction(double beta) const;
};

}  // namespace meshparity::reference
