#include "parallel_impl/optimizer/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace meshparity {
namespace {

constexpr std::int64_t kBase = std::int64_t{1} << 32;

/// The greatest limbs of a non-negative sum as one number; what lies below decides ties only.
double rounded(std::span<const std::int64_t> limbs, int lowest_exponent) {
  int top = static_cast<int>(limbs.size()) - 1;
  while (top >= 0 && limbs[static_cast<std::size_t>(top)] == 0) {
    --top;
  }
  const auto limb = [&](int i) {
    return i >= 0 ? static_cast<std::uint64_t>(limbs[static_cast<std::size_t>(i)]) : 0;
  };
  if (top < 0) {
    return 0;
  }
  // 64 bits from the leading one on: 11 more than a double keeps, so the last may stand for all
  // that is cut off.
  const int shift = std::countl_zero(static_cast<std::uint32_t>(limb(top)));
  const std::uint64_t low = limb(top - 2) << shift;
  std::uint64_t leading = (((limb(top) << 32) | limb(top - 1)) << shift) | (low >> 32);
  bool cut_off = (low & 0xffffffffU) != 0;
  for (int i = top - 3; i >= 0; --i) {
    cut_off = cut_off || limb(i) != 0;
  }
  leading |= cut_off ? 1 : 0;
  return std::ldexp(static_cast<double>(leading), 32 * (top - 1) + lowest_exponent - shift);
}

}  // namespace

void ExactSum::add(double value) {
  if (!std::isfinite(value)) {
    const std::size_t kind = std::isnan(value) ? 0 : value > 0 ? 1 : 2;
    ++words_[kLimbs + kind];
    return;
  }
  if (++additions_ > kAdditions) {
    mergeable();
  }
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  // Below -1088 only by 0 or by trailing zeros of a subnormal's mantissa.
  const int place = std::max(exponent - 53 - kLowestExponent, 0);
  const std::uint64_t bits = mantissa >> (place - (exponent - 53 - kLowestExponent));
  const int limb = place / 32;
  const std::uint64_t low = (bits & 0xffffffffU) << (place % 32);
  const std::uint64_t high = (bits >> 32) << (place % 32);
  const std::int64_t sign = value < 0 ? -1 : 1;
  std::int64_t* at = &words_[static_cast<std::size_t>(limb)];
  at[0] += sign * static_cast<std::int64_t>(low & 0xffffffffU);
  at[1] += sign * static_cast<std::int64_t>((low >> 32) + (high & 0xffffffffU));
  at[2] += sign * static_cast<std::int64_t>(high >> 32);
}

void ExactSum::carry(std::span<std::int64_t, kLimbs> limbs) {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    const std::int64_t over = limbs[i] >> 32;  // rounds down, so the rest is not negative
    limbs[i] -= over * kBase;
    limbs[i + 1] += over;
  }
}

std::span<std::int64_t> ExactSum::mergeable() {
  carry(limbs());
  additions_ = 0;
  return words_;
}

double ExactSum::value() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::int64_t* special = &words_[kLimbs];
  if (special[0] != 0 || (special[1] != 0 && special[2] != 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (special[1] != 0 || special[2] != 0) {
    return special[1] != 0 ? kInfinity : -kInfinity;
  }
  std::array<std::int64_t, kLimbs> sum;
  std::copy_n(words_.begin(), kLimbs, sum.begin());
  carry(sum);
  const bool negative = sum.back() < 0;
  if (negative) {
    std::transform(sum.begin(), sum.end(), sum.begin(), std::negate<>());
    carry(sum);
  }
  const double magnitude = rounded(sum, kLowestExponent);
  return negative ? -magnitude : magnitude;
}

}  // namespace meshparity
