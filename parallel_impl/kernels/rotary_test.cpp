#include "parallel_impl/kernels/rotary.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// Two places in a sample, two pairs a head. Angles: at place 0 none and a quarter turn, at place 1
// the turn of the triangle 3-4-5 and half a turn.
const std::vector<double> kCosines = {1, 0, 0.6, -1};
const std::vector<double> kSines = {0, 1, 0.8, 0};

TEST(RotaryTurn, TurnsEveryPairOfEveryHeadByItsPlaceAndPair) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> x;  // 3 tokens of 2 heads: places 0, 1, 0
    for (int head = 0; head < 3 * 2; ++head) {
      x.insert(x.end(), {5, 10, 1, 2});
    }

    LaneTeam(lanes).run(
        RotaryTurn<double>{x.data(), kCosines.data(), kSines.data(), 3, 2, 4, 2, 1});

    const std::vector<double> at_0 = {5, 10, -2, 1};
    const std::vector<double> at_1 = {3 - 8, 4 + 6, -1, -2};
    std::vector<double> expected;
    for (const std::vector<double>& head : {at_0, at_0, at_1, at_1, at_0, at_0}) {
      expected.insert(expected.end(), head.begin(), head.end());
    }
    EXPECT_EQ(x, expected);
  }
}

TEST(RotaryTurn, TheOtherDirectionTurnsBack) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> x = {5, 10, -2, 1, -5, 10, -1, -2};  // places 0 and 1, one head

    LaneTeam(lanes).run(
        RotaryTurn<double>{x.data(), kCosines.data(), kSines.data(), 2, 1, 4, 2, -1});

    EXPECT_EQ(x, (std::vector<double>{5, 10, 1, 2, 5, 10, 1, 2}));
  }
}

}  // namespace
}  // namespace meshparity
