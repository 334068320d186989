#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/gelu.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// Phi(1) and phi(1) from tables of the normal distribution.
constexpr double kCdf = 0.841344746068542949;
constexpr double kDensity = 0.241970724519143349;
const std::vector<double> kX = {0, 1, -1, 10, -40};

TEST(Gelu, ForwardIsXTimesTheNormalDistribution) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(5);

    LaneTeam(lanes).run(GeluForward<double>{kX.data(), out.data(), 5});

    EXPECT_EQ(out[0], 0);
    EXPECT_DOUBLE_EQ(out[1], kCdf);
    EXPECT_DOUBLE_EQ(out[2], -(1 - kCdf));
    EXPECT_EQ(out[3], 10);
    EXPECT_EQ(out[4], 0);
  }
}

TEST(Gelu, BackwardAddsTheDensityTerm) {
  const std::vector<double> dy = {2, 1, 1, 3, 1};
  for (const int lanes : kLaneCounts) {
    std::vector<double> dx(5);

    LaneTeam(lanes).run(GeluBackward<double>{kX.data(), dy.data(), dx.data(), 5});

    EXPECT_EQ(dx[0], 1);
    EXPECT_DOUBLE_EQ(dx[1], kCdf + kDensity);
    // Terms below 1 that cancel: four roundings of at most 2^-53 each.
    EXPECT_NEAR(dx[2], (1 - kCdf) - kDensity, 4 * 0x1p-53);
    EXPECT_DOUBLE_EQ(dx[3], 3);
    EXPECT_EQ(dx[4], 0);
  }
}

TEST(Gelu, SinglePrecisionIsComputedInSinglePrecision) {
  const float x = 1;
  float out = 0;

  LaneTeam(1).run(GeluForward<float>{&x, &out, 1});

  EXPECT_FLOAT_EQ(out, static_cast<float>(kCdf));
}

}  // namespace
}  // namespace meshparity
