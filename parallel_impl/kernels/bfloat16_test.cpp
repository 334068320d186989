#include "parallel_impl/kernels/bfloat16.cuh"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// Above 1, bfloat16 has steps of 2^-7.
TEST(Bfloat16, TiesGoToEven) {
  const std::vector<float> values = {1 + 0x1p-8F, 1 + 0x3p-8F, -1 - 0x1p-8F, 1 + 0x1.8p-8F, 0.0F};
  for (const int lanes : kLaneCounts) {
    std::vector<float> rounded(6, 99);

    LaneTeam(lanes).run(RoundedCopy<float>{values.data(), rounded.data(), 5});

    EXPECT_EQ(rounded, (std::vector<float>{1, 1 + 0x1p-6F, -1, 1 + 0x1p-7F, 0, 99}));
  }
}

// As a float it would be the tie.
TEST(Bfloat16, ADoubleIsRoundedOnce) {
  EXPECT_EQ(nearest_bfloat16(1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
  EXPECT_EQ(nearest_bfloat16(1 + 0x1p-8 - 0x1p-40), 1);
  EXPECT_EQ(nearest_bfloat16(-1 - 0x1p-8 - 0x1p-40), -1 - 0x1p-7);
  EXPECT_EQ(nearest_bfloat16(1 + 0x3p-8 - 0x1p-40), 1 + 0x1p-7);
}

TEST(Bfloat16, WhatIsNotFiniteStays) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(nearest_bfloat16(-infinity), -infinity);
  EXPECT_TRUE(std::isnan(nearest_bfloat16(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(nearest_bfloat16(0x1.FFp127F), infinity);
}

}  // namespace
}  // namespace meshparity
