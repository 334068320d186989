#include "parallel_impl/optimizer/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace meshparity {
namespace {

double exact_sum(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) {
    sum.add(value);
  }
  return sum.value();
}

constexpr double kHuge = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ExactSum, OfNothingIsZero) {
  EXPECT_EQ(ExactSum().value(), 0);
}

TEST(ExactSum, OfOneNumberIsThatNumber) {
  for (const double value : {1.0, -1.0, 0.1, -0.1, kTiny, -kTiny, 3 * kTiny, 0x1.fffffp-1030, kHuge,
                             -kHuge, 0x1p-1022, 0.0, 1e300, 123456789.125}) {
    EXPECT_EQ(exact_sum({value}), value);
  }
}

TEST(ExactSum, KeepsWhatDoublesWouldLose) {
  EXPECT_EQ(exact_sum({1e100, 1, -1e100}), 1);
  EXPECT_EQ(exact_sum({kHuge, kTiny, -kHuge}), kTiny);
  EXPECT_EQ(exact_sum({kTiny, -kHuge, kHuge, kTiny}), 2 * kTiny);
  EXPECT_EQ(exact_sum({-1e100, -1, 1e100}), -1);
}

TEST(ExactSum, RoundsOnceTiesToEven) {
  const double large = 9007199254740992.0;  // 2^53
  EXPECT_EQ(exact_sum({large, 1}), large);  // a tie: to even
  EXPECT_EQ(exact_sum({large, 1, kTiny}), large + 2);
  EXPECT_EQ(exact_sum({large, 1, 0x1p-20}), large + 2);
  EXPECT_EQ(exact_sum({large, 1, -kTiny}), large);
  EXPECT_EQ(exact_sum({large, 1, 1}), large + 2);
  EXPECT_EQ(exact_sum({large, 3}), large + 4);
  EXPECT_EQ(exact_sum({-large, -1, -kTiny}), -large - 2);
}

TEST(ExactSum, OverflowsToInfinityAndComesBack) {
  EXPECT_EQ(exact_sum({kHuge, kHuge}), kInfinity);
  EXPECT_EQ(exact_sum({kHuge, kHuge, -kHuge}), kHuge);
}

TEST(ExactSum, NaNAndOpposedInfinitiesAreNaN) {
  EXPECT_TRUE(std::isnan(exact_sum({1, std::nan(""), 2})));
  EXPECT_TRUE(std::isnan(exact_sum({kInfinity, -kInfinity})));
  EXPECT_EQ(exact_sum({kInfinity, 1, kInfinity}), kInfinity);
  EXPECT_EQ(exact_sum({-kInfinity, 1}), -kInfinity);
}

std::vector<double> wild(int count) {
  std::mt19937_64 random(7);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    const double mantissa = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    values.push_back(std::ldexp(mantissa, static_cast<int>(random() % 80) - 40));
  }
  return values;
}

TEST(ExactSum, IsTheSameInAnyOrder) {
  std::vector<double> values = wild(5000);
  const double expected = exact_sum(values);
  std::mt19937 random(3);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(values.begin(), values.end(), random);

    EXPECT_EQ(exact_sum(values), expected);
  }
  // Another implementation: 64 bits of mantissa err by at most 5000 * 2^-64 of the sum of sizes.
  long double wide = 0, sizes = 0;
  for (const double value : values) {
    wide += value;
    sizes += std::abs(value);
  }
  EXPECT_NEAR(static_cast<double>(wide), expected, static_cast<double>(sizes * 5000 * 0x1p-64L));
}

TEST(ExactSum, PartsMergeByAddingTheirLimbs) {
  const std::vector<double> values = wild(999);
  ExactSum parts[3];
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[i % 3].add(values[i]);
  }

  const std::span<std::int64_t> merged = parts[0].mergeable();
  for (const int other : {1, 2}) {
    const std::span<std::int64_t> limbs = parts[other].mergeable();
    std::transform(merged.begin(), merged.end(), limbs.begin(), merged.begin(), std::plus<>());
  }

  EXPECT_EQ(parts[0].value(), exact_sum(values));
}

TEST(ExactSum, SumsOfEqualNumbersAreProducts) {
  ExactSum sum;
  for (int i = 0; i < 1 << 16; ++i) {
    sum.add(0.1);
  }

  EXPECT_EQ(sum.value(), 65536 * 0.1);
}

}  // namespace
}  // namespace meshparity
