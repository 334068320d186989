#include "matrix/bound.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace meshparity {
namespace {

Companion companion_of(std::int64_t rows, std::int64_t columns, int samples, double effective) {
  Companion companion;
  companion.rows = rows;
  companion.columns = columns;
  companion.samples = samples;
  companion.effective = effective;
  return companion;
}

// 2^-29 sqrt 2 = 1.41421356 / 536870912.
TEST(Lane, TheFp64LaneIsTheFp32SetScaled) {
  const Lane lane = lane_of(Precision::fp64);

  EXPECT_DOUBLE_EQ(lane.factor, std::sqrt(2.0) / 536870912.0);
  EXPECT_EQ(lane.companions, "fp32");
  EXPECT_EQ(lane.projection_guard, 100);
  EXPECT_EQ(lane_of(Precision::fp32).factor, 1);
  EXPECT_EQ(lane_of(Precision::fp32).projection_guard, 10);
}

// bounds.md §3.1: u is 2^-11 and 2^-8, that is 10 and 7 bits behind the leading one.
TEST(Lane, Tf32AndBf16HaveSetsOfTheirOwn) {
  const Lane tf32 = lane_of(Precision::tf32);
  const Lane bf16 = lane_of(Precision::bf16);

  EXPECT_EQ(tf32.companions, "tf32");
  EXPECT_EQ(bf16.companions, "bf16");
  EXPECT_EQ(tf32.factor, 1);
  EXPECT_EQ(bf16.factor, 1);
  EXPECT_EQ(tf32.projection_guard, 10);
  EXPECT_EQ(bf16.projection_guard, 10);
  EXPECT_EQ(tf32.mantissa_bits, 10);
  EXPECT_EQ(bf16.mantissa_bits, 7);
}

// n_eff 128 of 64 x 32, K 32: F has nu 128/4096, R 2/68, C 4/132, X and G 1/36.
TEST(Limits, TakeTheirDegreesOfFreedomFromTheRule) {
  const Limits limits = limits_for(companion_of(64, 32, 32, 128), 1);

  EXPECT_DOUBLE_EQ(limits.whole.nu1, 128);
  EXPECT_DOUBLE_EQ(limits.whole.nu2, 4096);
  EXPECT_DOUBLE_EQ(limits.row.nu1, 2);
  EXPECT_DOUBLE_EQ(limits.row.nu2, 68);
  EXPECT_EQ(limits.row.blocks, 64);
  EXPECT_DOUBLE_EQ(limits.column.nu1, 4);
  EXPECT_DOUBLE_EQ(limits.column.nu2, 132);
  EXPECT_EQ(limits.column.blocks, 32);
  EXPECT_DOUBLE_EQ(limits.element.nu2, 36);
  EXPECT_EQ(limits.element.blocks, 2048);
  EXPECT_DOUBLE_EQ(limits.projection.z, 6);
}

// bounds.md §3.2's typical values: F of matrices 1.36 or less, R and C 2.8 to 6, X 10.6 to 13.1,
// G 8.9, single numbers 9.2; each twice that with S = 2.
TEST(Limits, HaveTheTypicalSizes) {
  const Limits limits = limits_for(companion_of(64, 64, 32, 212), 1);
  const Limits single = limits_for(companion_of(1, 1, 32, 1), 1);

  EXPECT_NEAR(limits.whole.value, 2 * 1.3, 0.15);
  EXPECT_GT(limits.row.value, 2 * 2.8);
  EXPECT_LT(limits.row.value, 2 * 6);
  EXPECT_GT(limits.element.value, 2 * 10.6);
  EXPECT_LT(limits.element.value, 2 * 13.1);
  EXPECT_NEAR(limits.projection.value, 2 * 8.85, 0.1);
  EXPECT_NEAR(single.whole.value, 18.4, 0.1);
}

TEST(Limits, ColumnsAreJudgedInBlocksOfTheHeadWidth) {
  const Limits limits = limits_for(companion_of(10, 12, 32, 36), 3);

  EXPECT_EQ(limits.column.blocks, 4);
  EXPECT_DOUBLE_EQ(limits.column.nu1, 9);
}

TEST(Limits, HaveNoValueWithTooFewSamples) {
  const Limits limits = limits_for(companion_of(1, 1, 8, 1), 1);

  EXPECT_TRUE(std::isnan(limits.whole.value));
  EXPECT_EQ(derivation(limits.whole), "no limit: nu 1/8 is too little for z 6.00");
}

TEST(Limits, SayHowTheyCameAbout) {
  const Limits limits = limits_for(companion_of(64, 32, 32, 128), 1);

  EXPECT_EQ(derivation(limits.projection), "S 2 x Lambda 8.85 (nu 1/36, 1 block, z 6.00)");
}

}  // namespace
}  // namespace meshparity
