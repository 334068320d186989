#include "reference/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/micro_case.hpp"

namespace meshparity::reference {
namespace {

constexpr double kU = 0x1p-24;
// The noise is added in FP64: its own rounding is 2^-53 of the value, 2^-29 of the noise.
constexpr double kRelative = 0x1p-26;

Rounding fp32(int replica = 0, int step = 0, int sample = 0) {
  return Rounding::noisy(kFp32Lane, {replica, step, sample});
}

TEST(Rounding, ExactLeavesEveryBit) {
  Rounding exact = Rounding::exact();
  Matrix y = matrix({{1.0 / 3, -0.0}, {1e300, 7}});
  const Matrix before = y;
  Column sums = Column::Constant(2, 0.1);

  exact.elementwise(y, 3);
  exact.product(y, Column::Ones(2), Row::Ones(2), 5);
  exact.sums(y, Matrix::Ones(2, 2), Column::Ones(2));
  exact.row_sums(sums, y);

  EXPECT_EQ(y, before);
  EXPECT_TRUE(std::signbit(y(0, 1)));
  EXPECT_EQ(sums, Column::Constant(2, 0.1));
  EXPECT_EQ(exact.sum(0.1, 1, 1), 0.1);
  EXPECT_EQ(exact.elementwise(0.1), 0.1);
}

TEST(Rounding, AnElementwiseErrorIsURelativeOverRootThree) {
  Matrix y = matrix({{2, -8}});
  fp32().elementwise(y);
  EXPECT_NEAR(std::abs(y(0, 0) - 2) / (2 * kU / std::sqrt(3.0)), 1, kRelative);
  EXPECT_NEAR(std::abs(y(0, 1) + 8) / (8 * kU / std::sqrt(3.0)), 1, kRelative);
}

TEST(Rounding, FourOperationsInARowDoubleTheDeviation) {
  const double y = fp32().elementwise(1.0, 4);
  EXPECT_NEAR(std::abs(y - 1) / (2 * kU / std::sqrt(3.0)), 1, kRelative);
}

// K = 6 ones: Q = 6, y = 6; (1 + 6/6) 6 + (6/3) 36 = 84, and sqrt(84/3) = sqrt(28).
TEST(Rounding, ASumOfSixOnesErrsByRootTwentyEightU) {
  EXPECT_NEAR(std::abs(fp32().sum(6, 6, 6) - 6) / (kU * std::sqrt(28.0)), 1, kRelative);

  Column sums = Column::Constant(1, 6);
  fp32().row_sums(sums, Matrix::Ones(1, 6));
  EXPECT_NEAR(std::abs(sums[0] - 6) / (kU * std::sqrt(28.0)), 1, kRelative);

  Matrix value = matrix({{6}});
  fp32().sums(value, matrix({{6}}), Column::Constant(1, 6));
  EXPECT_NEAR(std::abs(value(0, 0) - 6) / (kU * std::sqrt(28.0)), 1, kRelative);
}

// A row (1, 2), a column (1, 1): K = 2, y = 3, Q = 5*2/2 = 5; (1 + 2/6) 5 + (2/3) 9 = 38/3.
TEST(Rounding, AProductErrsByTheNormsOfItsRowAndColumn) {
  Matrix y = matrix({{3}});
  fp32().product(y, Column::Constant(1, 5), Row::Constant(1, 2), 2);
  EXPECT_NEAR(std::abs(y(0, 0) - 3) / (kU * std::sqrt(38.0 / 9)), 1, kRelative);
}

TEST(Rounding, ASumThatCancelsStillErrs) {
  EXPECT_NEAR(std::abs(fp32().sum(0, 6, 6)) / (kU * std::sqrt(4.0)), 1, kRelative);
}

TEST(Rounding, CountsOfTermsWeighEachRow) {
  Column sums(2);
  sums << 0, 0;
  Column counts(2);
  counts << 6, 12;
  fp32().row_sums(sums, matrix({{1, -1, 0}, {1, -1, 0}}), counts);
  EXPECT_NEAR(std::abs(sums[0]) / (kU * std::sqrt(2 * 2.0 / 3)), 1, kRelative);
  EXPECT_NEAR(std::abs(sums[1]) / (kU * std::sqrt(3 * 2.0 / 3)), 1, kRelative);
}

TEST(Rounding, ZeroStaysZero) {
  Rounding rounding = fp32();
  Matrix y = Matrix::Zero(3, 70);
  rounding.elementwise(y);
  rounding.product(y, Column::Zero(3), Row::Ones(70), 4);
  rounding.sums(y, Matrix::Zero(3, 70), Column::Constant(3, 9));
  EXPECT_EQ(y, Matrix::Zero(3, 70));
  EXPECT_EQ(rounding.sum(0, 0, 9), 0);
}

/// Signs of 6,400 elements; more than one word each row.
Row signs_of(Rounding rounding, int operations) {
  Row y;
  for (int i = 0; i < operations; ++i) {
    y = Row::Ones(6400);
    rounding.elementwise(y);
  }
  return (y.array() - 1).sign();
}

// The mean of n independent signs has deviation 1/sqrt(n) = 1/80; 6 of those happen once in 10^9.
TEST(Rounding, SignsAreBalancedAndIndependentOfAllElse) {
  const double limit = 6.0 / 80;
  const Row signs = signs_of(fp32(), 1);
  EXPECT_LE(std::abs(signs.mean()), limit);
  for (const Row& other : {signs_of(fp32(), 2), signs_of(fp32(1), 1), signs_of(fp32(0, 1), 1),
                           signs_of(fp32(0, 0, 1), 1), signs_of(fp32(0, 0, kWholeStep), 1),
                           signs_of(Rounding::noisy(kBf16Lane, {}), 1)}) {
    EXPECT_LE(std::abs(signs.dot(other)) / 6400, limit);
  }
  for (int shift = 1; shift <= 130; ++shift) {
    EXPECT_LE(std::abs(signs.head(6200).dot(signs.segment(shift, 6200))) / 6200, limit) << shift;
  }
}

TEST(Rounding, TheSameStreamGivesTheSameSigns) {
  EXPECT_EQ(signs_of(fp32(3, 2, 1), 2), signs_of(fp32(3, 2, 1), 2));
}

}  // namespace
}  // namespace meshparity::reference
