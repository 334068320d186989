#include "reference/laws/law.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace meshparity::reference {
namespace {

constexpr Wide kSecondOrder = 1.01L;

/// To nearest, ties to even: the upper half of the float32.
double to_bfloat16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16) & 1U);
  return std::bit_cast<float>(rounded & 0xffff0000U);
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
