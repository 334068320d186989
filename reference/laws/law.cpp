#include "reference/laws/law.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace meshparity::reference {
namespace {

constexpr Wide kSecondOrder = 1.01L;

/// To nearest, ties to even, at once: by way of float32 a double beside a tie would become the tie.
double to_bfloat16(double value) {
  constexpr int kLeastExponent = -125;  // of frexp; below it the steps stay
  if (!std::isfinite(value)) {
    return value;
  }
  int exponent = 0;
  std::frexp(value, &exponent);
  const int step = std::max(exponent, kLeastExponent) - 8;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
  return static_cast<float>(rounded);  // infinite where bfloat16 is
}

}  // namespace

StepType step_type(Precision precision) {
  if (precision == Precision::fp64) {
    return {0x1p-53, std::numeric_limits<double>::denorm_min(), false, "2^-53"};
  }
  return {0x1p-24, std::numeric_limits<float>::denorm_min(), true, "2^-24"};
}

double compute_copy_of(double master, Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return master;
    case Precision::fp32:
    case Precision::tf32:
      return static_cast<float>(master);
    case Precision::bf16:
      return to_bfloat16(master);
  }
  return master;
}

void append(const Demand& demand, LawValues& values) {
  values.expected.push_back(static_cast<double>(demand.value));
  const Wide stored = 0x1p-53L * std::abs(demand.value);
  values.limit.push_back(static_cast<double>(kSecondOrder * demand.limit + stored));
}

void append_exact(double value, LawValues& values) {
  values.expected.push_back(value);
  values.limit.push_back(0);
}

}  // namespace meshparity::reference
