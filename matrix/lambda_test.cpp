#include "matrix/lambda.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace meshparity {
namespace {

// Upper points of F from the tables (Abramowitz and Stegun 26.9): F(5,10) at 5 % is 3.326,
// F(10,20) at 1 % is 3.368, F(3,60) at 1 % is 4.126. Paulson's approximation is good to 1 %.
TEST(Lambda, AgreesWithTheTablesOfF) {
  const double z95 = 1.6448536269514722;
  const double z99 = 2.3263478740408408;

  EXPECT_NEAR(*lambda(5, 10, z95), std::sqrt(3.326), 0.002);
  EXPECT_NEAR(*lambda(10, 20, z99), std::sqrt(3.368), 0.004);
  EXPECT_NEAR(*lambda(3, 60, z99), std::sqrt(4.126), 0.004);
}

// Exact quantiles at z = 6 by inverting the incomplete beta function in 40 digits (mpmath): the
// approximation lies above them, so it never alarms more often than asked.
TEST(Lambda, LiesAboveTheExactQuantileFarOutInTheTail) {
  struct Point {
    double nu1, nu2, z, exact;
  };
  for (const Point& p : {Point{1, 32, 6, 8.5166894}, Point{1, 36, 6, 8.1825308},
                         Point{16, 512, 6, 2.2416899}, Point{64, 2048, 6, 1.5825692},
                         Point{512, 16384, 6, 1.1962866}, Point{4, 132, 6.6, 4.1550301}}) {
    const double value = *lambda(p.nu1, p.nu2, p.z);

    EXPECT_GE(value, p.exact) << p.nu1 << " " << p.nu2;
    EXPECT_LE(value, 1.09 * p.exact) << p.nu1 << " " << p.nu2;
  }
}

// bounds.md §3.2, "Typical Lambda at K = 32", and §2.3 for K = 16 and 8.
TEST(Lambda, HasTheTypicalValuesOfTheMethod) {
  EXPECT_NEAR(*lambda(1, 32, 6), 9.2, 0.05);
  EXPECT_NEAR(*lambda(1, 36, 6), 8.85, 0.05);
  EXPECT_NEAR(*lambda(1, 16, 6), 14.3, 0.05);
  EXPECT_FALSE(lambda(1, 8, 6).has_value());
}

TEST(Lambda, GrowsWithTheNumberOfBlocks) {
  EXPECT_DOUBLE_EQ(deviate_for(1), 6);
  EXPECT_NEAR(deviate_for(100000000), 8.5, 0.05);
  EXPECT_GT(*lambda(1, 36, deviate_for(64)), *lambda(1, 36, 6));
}

TEST(Lambda, HasNoValueWithoutProperArguments) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_FALSE(lambda(nan, 32, 6).has_value());
  EXPECT_FALSE(lambda(1, 0, 6).has_value());
  EXPECT_FALSE(lambda(1, 32, nan).has_value());
}

}  // namespace
}  // namespace meshparity
