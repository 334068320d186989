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

}  // namespace
}  // namespace meshparity
