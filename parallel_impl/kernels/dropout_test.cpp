#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/dropout.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

const std::vector<double> kX = {1, 2, 3, 4, 5};
const std::vector<unsigned> kWords = {0, 99, 100, 101, 0xffffffffU};
const DropoutRule<double> kRule = {100, 0.5};

TEST(Dropout, KeepsFromTheThresholdOnAndDividesByTheKeepProbability) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(5);

    LaneTeam(lanes).run(Dropout<double>{kX.data(), kWords.data(), out.data(), 5, kRule});

    EXPECT_EQ(out, (std::vector<double>{0, 0, 6, 8, 10}));
  }
}

TEST(Dropout, WithoutWordsIsACopy) {
  std::vector<double> out(5);

  LaneTeam(3).run(Dropout<double>{kX.data(), nullptr, out.data(), 5, kRule});

  EXPECT_EQ(out, kX);
}

TEST(Dropout, ResidualIsNotDropped) {
  const std::vector<double> residual(5, 100);
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(5), plain(5);

    LaneTeam team(lanes);
    team.run(
        ResidualDropout<double>{residual.data(), kX.data(), kWords.data(), out.data(), 5, kRule});
    team.run(ResidualDropout<double>{residual.data(), kX.data(), nullptr, plain.data(), 5, kRule});

    EXPECT_EQ(out, (std::vector<double>{100, 100, 106, 108, 110}));
    EXPECT_EQ(plain, (std::vector<double>{101, 102, 103, 104, 105}));
  }
}

// 0.9 as a float is 2.6e-8 less than 0.9, which would make every quotient that much too large.
TEST(Dropout, InSinglePrecisionTheKeepProbabilityIsNotRounded) {
  const DropoutRule<float> rule = {0, 0.9};
  int others = 0;
  for (int n = 1; n < 60; ++n) {
    const auto value = static_cast<float>(n);
    EXPECT_EQ(rule.apply(value, 1), static_cast<float>(n / 0.9)) << n;
    others += value / 0.9F == static_cast<float>(n / 0.9) ? 0 : 1;
  }
  EXPECT_GT(others, 0);
}

}  // namespace
}  // namespace meshparity
