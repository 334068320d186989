#include "reference/laws/scalar_laws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace meshparity::reference {
namespace {

const StepType kFp64 = step_type(Precision::fp64);
constexpr Wide kU = 0x1p-53L;

TEST(ScalarLaws, TheNormIsThatOfAllElements) {
  const std::vector<std::vector<Wide>> gradients = {{2, -4}, {}, {5, 6, 0}};

  const Demand demand = clip_norm(gradients, kFp64);

  EXPECT_EQ(demand.value, 9);
  EXPECT_EQ(demand.limit, 36 * kU);
}

TEST(ScalarLaws, TheCoefficientScalesDownOnly) {
  const Demand active = clip_coefficient(0.5, 2 - 1e-6, kFp64);
  EXPECT_NEAR(static_cast<double>(active.value), 0.25, 1e-17);
  EXPECT_NEAR(static_cast<double>(active.limit / kU), 0.75, 1e-15);

  EXPECT_EQ(clip_coefficient(4, 2, kFp64).value, 1);
  EXPECT_EQ(clip_coefficient(4, 2, kFp64).limit, 3 * kU);
}

TEST(ScalarLaws, WithoutALimitTheCoefficientIsExactlyOne) {
  EXPECT_EQ(clip_coefficient(std::nullopt, 17, kFp64).value, 1);
  EXPECT_EQ(clip_coefficient(std::nullopt, 17, kFp64).limit, 0);
}

// Just at the limit either branch is right, and their values are within three roundings.
TEST(ScalarLaws, BothBranchesAreLegalWhereTheyMeet) {
  const double norm = 1 - 1e-6;
  const Demand demand = clip_coefficient(1, std::nextafter(norm, 2), kFp64);

  EXPECT_LE(std::abs(1 - demand.value), demand.limit);
}

TEST(ScalarLaws, ANormThatIsNoNumberGivesNoCoefficient) {
  const double nan = std::numeric_limits<double>::quiet_NaN();

  EXPECT_TRUE(std::isnan(clip_coefficient(1, nan, kFp64).value));
}

TEST(ScalarLaws, TheLossIsTheSumOverTheTokens) {
  const std::vector<double> losses = {3, 0, 1, 0.5};

  const Demand demand = loss_sum(losses, {4, {1}, 2, 2}, kFp64);

  EXPECT_EQ(demand.value, 2.25);
  EXPECT_EQ(demand.limit, 9 * kU);
}

// Two groups of two samples, one token each: means (3 + 1)/2 and 5/1, and a group without any.
TEST(ScalarLaws, AMeanOfMeansHasItsOwnSharesAndRoundings) {
  const std::vector<double> losses = {3, 1, 5, 0, 0, 0};

  const Demand demand = loss_sum(losses, {2, {0.5, 1, 0}, 3, 3}, kFp64);

  EXPECT_NEAR(static_cast<double>(demand.value), 7.0 / 3, 1e-15);
  EXPECT_NEAR(static_cast<double>(demand.limit / kU), 8 * 7.0 / 3, 1e-12);
}

TEST(ScalarLaws, WithoutATokenTheLossIsZero) {
  EXPECT_EQ(loss_sum(std::vector<double>{0, 0}, {2, {1}, 0, 0}, kFp64).value, 0);
  EXPECT_EQ(loss_sum(std::vector<double>{0, 0}, {2, {1}, 0, 0}, kFp64).limit, 0);
}

}  // namespace
}  // namespace meshparity::reference
