#include "reference/laws/law.hpp"

#include <cmath>
#include <limits>

namespace meshparity::reference {
namespace {

constexpr Wide kSecondOrder = 1.01L;

}  // namespace

StepType step_type(Precision precision) {
  if (precision == Precision::fp64) {
    return {0x1p-53, std::numeric_limits<double>::denorm_min(), false, "2^-53"};
  }
  return {0x1p-24, std::numeric_limits<float>::denorm_min(), true, "2^-24"};
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
