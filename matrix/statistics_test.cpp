#include "matrix/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

/// The scale of the stored set, guard 10: sigma^2 = s2.
Lane plain_lane() {
  Lane lane = lane_of(Precision::fp32);
  return lane;
}

Companion companion_of(std::int64_t rows, std::int64_t columns, std::vector<float> s2) {
  Companion companion;
  companion.record = "w";
  companion.rows = rows;
  companion.columns = columns;
  companion.samples = 32;
  companion.s2 = std::move(s2);
  for (const float value : companion.s2) {
    companion.total += value;
  }
  companion.total /= static_cast<double>(companion.s2.size());
  companion.effective = static_cast<double>(companion.s2.size());
  companion.g.assign(32, 0.0);
  return companion;
}

const Ratio* find(const Statistics& found, char statistic) {
  for (const Ratio& ratio : found.ratios) {
    if (ratio.statistic == statistic) {
      return &ratio;
    }
  }
  return nullptr;
}

// s2 = [1 3; 5 7], tot 4. Error [1 2; 2 4]: squares 1 4 4 16, sum 25, so F = sqrt(25/4/4) = 1.25.
// Rows: means 2 and 6, shrunk with n 2: (64 x + 16)/68 = 144/68, 400/68. Row 0: 2.5 / (144/68),
// row 1: 10 / (400/68) = 1.7; row 1 is larger.
// Columns: means 3 and 5: 208/68, 336/68. Column 1: mean 10 / (336/68) = 2.0238.
// hat[1,1] = (400/68)(336/68)/4 = 7.2664; el = (32*7 + 4*7.2664)/36 = 7.02960; 16/el = 2.27609.
// hat[0,0] = (144/68)(208/68)/4 = 1.61938; el = (32 + 6.47751)/36; 1/el = 0.93562.
// hat[0,1] = (144/68)(336/68)/4 = 2.61592; el = (96+10.46367)/36 = 2.95732; 4/el = 1.35257.
TEST(Statistics, AgreeWithATwoByTwoWorkedByHand) {
  const Companion companion = companion_of(2, 2, {1, 3, 5, 7});
  const std::vector<double> reference{1, 1, 1, 1};
  const std::vector<double> error{1, 2, 2, 4};

  const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

  EXPECT_NEAR(find(found, 'F')->value, 1.25, 1e-12);
  EXPECT_NEAR(find(found, 'R')->value, std::sqrt(1.7), 1e-12);
  EXPECT_EQ(find(found, 'R')->block, 1);
  EXPECT_NEAR(find(found, 'C')->value, std::sqrt(10.0 / (336.0 / 68.0)), 1e-12);
  EXPECT_EQ(find(found, 'C')->block, 1);
  EXPECT_NEAR(find(found, 'X')->value, std::sqrt(2.27609), 1e-5);
  EXPECT_EQ(find(found, 'X')->block, 3);
  EXPECT_EQ(find(found, 'G'), nullptr);  // |ref| = 2 is below 10 sqrt(4 * 4)
  EXPECT_FALSE(found.zero.has_value());
  EXPECT_NEAR(found.sigma, 2, 1e-12);
}

// [2 x 3], s2 all 1, so every variance is 1. Error only in column 2: 0 0 3 / 0 0 4.
// F = sqrt(25/6), R: row 1 sqrt(16/3), C: column 2 sqrt(25/2), X 4.
TEST(Statistics, AgreeWithATwoByThreeWorkedByHand) {
  const Companion companion = companion_of(2, 3, {1, 1, 1, 1, 1, 1});
  const std::vector<double> reference(6, 0.0);
  const std::vector<double> error{0, 0, 3, 0, 0, 4};

  const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

  EXPECT_NEAR(find(found, 'F')->value, std::sqrt(25.0 / 6.0), 1e-12);
  EXPECT_NEAR(find(found, 'R')->value, std::sqrt(16.0 / 3.0), 1e-12);
  EXPECT_NEAR(find(found, 'C')->value, std::sqrt(12.5), 1e-12);
  EXPECT_EQ(find(found, 'C')->block, 2);
  EXPECT_NEAR(find(found, 'X')->value, 4, 1e-12);
}

// Blocks of two columns in [2 x 4]: block 1 holds 3 and 4 in four elements: sqrt(25/4).
TEST(Statistics, ColumnsAreTakenInHeads) {
  const Companion companion = companion_of(2, 4, std::vector<float>(8, 1.0F));
  const std::vector<double> reference(8, 0.0);
  const std::vector<double> error{0, 0, 3, 0, 0, 0, 0, 4};

  const Statistics found = statistics({reference, error}, companion, 2, plain_lane());

  EXPECT_NEAR(find(found, 'C')->value, 2.5, 1e-12);
  EXPECT_EQ(find(found, 'C')->block, 1);
}

// A vector: el = (32 s2 + 4 tot)/36. s2 = 1, 4, tot 2.5: el = 42/36, 138/36.
TEST(Statistics, AVectorShrinksItsElementsTowardsTheTotal) {
  const Companion companion = companion_of(1, 2, {1, 4});
  const std::vector<double> reference{0, 0};
  const std::vector<double> error{3, 0};

  const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

  EXPECT_NEAR(find(found, 'X')->value, 3 / std::sqrt(42.0 / 36.0), 1e-12);
  EXPECT_EQ(find(found, 'R'), nullptr);
  EXPECT_EQ(find(found, 'C'), nullptr);
}

TEST(Statistics, ASingleNumberHasOneRatio) {
  const Companion companion = companion_of(1, 1, {4});
  const std::vector<double> reference{100};
  const std::vector<double> error{-6};

  const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

  ASSERT_EQ(found.ratios.size(), 1u);
  EXPECT_NEAR(found.ratios[0].value, 3, 1e-12);
  EXPECT_NEAR(found.ratios[0].limit.value, 18.4, 0.1);
  EXPECT_NEAR(found.sees, 18.38 * 2 / 100, 1e-3);
}

// ref = (40, 0), |ref|^2 = 1600, error (4, 9): <E, ref>/|ref|^2 = 0.1. g all 0.01: K mean g^2 =
// 0.0032; s2 = 1: sum el ref^2/|ref|^4 = 1/1600; sg^2 = (0.0032 + 0.0025)/36.
TEST(Statistics, TheProjectionIsJudgedByItsOwnSpread) {
  Companion companion = companion_of(1, 2, {1, 1});
  companion.g.assign(32, 0.01);
  const std::vector<double> reference{40, 0};
  const std::vector<double> error{4, 9};

  const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

  ASSERT_NE(find(found, 'G'), nullptr);
  EXPECT_NEAR(find(found, 'G')->value, 0.1 / std::sqrt(0.0057 / 36), 1e-9);
}

// |ref| = 40 against sigma sqrt(n) = sqrt 2: above the guard of 10, below one of 100.
TEST(Statistics, TheProjectionIsLeftOutBelowTheLanesGuard) {
  const Companion companion = companion_of(1, 2, {1, 1});
  const std::vector<double> reference{40, 0};
  const std::vector<double> error{0, 0};
  Lane guarded = plain_lane();
  guarded.projection_guard = 100;

  EXPECT_NE(find(statistics({reference, error}, companion, 1, plain_lane()), 'G'), nullptr);
  EXPECT_EQ(find(statistics({reference, error}, companion, 1, guarded), 'G'), nullptr);
}

TEST(Statistics, TheLanesFactorScalesSigma) {
  const Companion companion = companion_of(1, 2, {1, 1});
  const std::vector<double> reference{0, 0};
  const std::vector<double> error{3, 0};
  Lane half = plain_lane();
  half.factor = 0.5;

  const Statistics whole = statistics({reference, error}, companion, 1, plain_lane());
  const Statistics scaled = statistics({reference, error}, companion, 1, half);

  EXPECT_NEAR(find(scaled, 'F')->value, 2 * find(whole, 'F')->value, 1e-12);
  EXPECT_NEAR(find(scaled, 'X')->value, 2 * find(whole, 'X')->value, 1e-12);
  EXPECT_NEAR(scaled.sigma, 0.5, 1e-12);
}

// Row 1 has no noise at all, element [0, 1] neither; the smallest number there is counts.
TEST(Statistics, AnErrorWhereNothingMayErrIsFound) {
  const Companion companion = companion_of(2, 2, {1, 0, 0, 0});
  const std::vector<double> reference{0, 0, 0, 0};
  const std::vector<double> quiet{1, 0, 0, 0};
  const std::vector<double> loud{0, 0, 4.9e-324, 1};

  EXPECT_FALSE(statistics({reference, quiet}, companion, 1, plain_lane()).zero.has_value());
  EXPECT_EQ(statistics({reference, loud}, companion, 1, plain_lane()).zero, 2);
}

TEST(Statistics, ARecordWithoutAnyNoiseHasOnlyZ) {
  const Companion companion = companion_of(1, 1, {0});
  const std::vector<double> reference{812};

  const Statistics same =
      statistics({reference, std::vector<double>{0}}, companion, 1, plain_lane());
  const Statistics off =
      statistics({reference, std::vector<double>{1}}, companion, 1, plain_lane());

  EXPECT_EQ(same.worst().margin(), 0);
  EXPECT_FALSE(same.zero.has_value());
  EXPECT_FALSE(same.blind);
  EXPECT_EQ(off.zero, 0);
}

// Masked tokens alone: everything is zero on both sides, and only zero passes.
TEST(Statistics, ARecordOfExactZerosIsNotBlind) {
  const Companion companion = companion_of(1, 2, {0, 0});
  const std::vector<double> zeros{0, 0};

  EXPECT_FALSE(statistics({zeros, zeros}, companion, 1, plain_lane()).blind);
}

TEST(Statistics, ANanIsTheWorstAndNeverWithinItsLimit) {
  const Companion companion = companion_of(2, 2, {1, 3, 5, 7});
  const std::vector<double> reference{1, 1, 1, 1};
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<double> error{0, 0, 0, 0};
    error[at] = kNan;

    const Statistics found = statistics({reference, error}, companion, 1, plain_lane());

    EXPECT_FALSE(found.worst().margin() <= 1) << at;
    EXPECT_EQ(find(found, 'X')->block, static_cast<std::int64_t>(at));
  }
}

TEST(Statistics, ANanWhereNothingMayErrIsFound) {
  const Companion companion = companion_of(1, 2, {0, 0});
  const std::vector<double> reference{1, 1};

  EXPECT_EQ(statistics({reference, std::vector<double>{0, kNan}}, companion, 1, plain_lane()).zero,
            1);
}

// Limit of F is about 2 * 1.8 sigma for n_eff 4: a reference of norm 5 * sigma would pass as zeros.
TEST(Statistics, ALimitThatWouldAcceptAZeroedRecordIsBlind) {
  const Companion companion = companion_of(2, 2, {1, 1, 1, 1});
  const std::vector<double> error(4, 0.0);

  EXPECT_TRUE(statistics({std::vector<double>(4, 5.0), error}, companion, 1, plain_lane()).blind);
  EXPECT_FALSE(
      statistics({std::vector<double>(4, 500.0), error}, companion, 1, plain_lane()).blind);
  EXPECT_TRUE(statistics({std::vector<double>(4, 0.0), error}, companion, 1, plain_lane()).blind);
}

TEST(Statistics, TheWorstElementLiesInTheFailingBlock) {
  const Companion companion = companion_of(2, 3, std::vector<float>(6, 1.0F));
  const std::vector<double> reference(6, 0.0);
  const std::vector<double> error{0, 0, 3, 9, 0, 4};
  const Comparand data{reference, error};
  const auto at = [&](char statistic, std::int64_t block) {
    return worst_element({statistic, 0, block, {}}, data, companion, 1);
  };

  EXPECT_EQ(at('F', 0), 3);
  EXPECT_EQ(at('R', 0), 2);
  EXPECT_EQ(at('C', 2), 5);
  EXPECT_EQ(at('X', 2), 2);
}

TEST(Statistics, SizesThatDoNotFitAreAnError) {
  const Companion companion = companion_of(2, 2, {1, 1, 1, 1});
  const std::vector<double> three(3, 0.0);
  const std::vector<double> four(4, 0.0);

  EXPECT_THROW(statistics({three, four}, companion, 1, plain_lane()), Error);
  EXPECT_THROW(statistics({four, four}, companion, 3, plain_lane()), Error);
}

}  // namespace
}  // namespace meshparity
