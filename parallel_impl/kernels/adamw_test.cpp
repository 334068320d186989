#include "parallel_impl/kernels/adamw.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"
#include "parallel_impl/kernels/sgd.cuh"

namespace meshparity {
namespace {

/// The first step: gradient 2, clipped to 1; beta1 1/2, beta2 3/4, so both corrected moments are 1.
struct FirstStep {
  std::vector<double> theta = {8, 8, 8, 8, 8};
  std::vector<double> grad = {2, 2, 2, 2, -2};
  std::vector<double> moment1 = std::vector<double>(5);
  std::vector<double> moment2 = std::vector<double>(5);

  AdamW<double> kernel(bool decays) {
    return {theta.data(),
            grad.data(),
            moment1.data(),
            moment2.data(),
            5,
            decays,
            0.5,
            0.5,
            0.5,
            0.75,
            1.0,
            0.125,
            0.5,
            0.25};
  }
};

TEST(AdamW, DecaysFirstThenStepsByTheCorrectedMoments) {
  for (const int lanes : kLaneCounts) {
    FirstStep step;

    LaneTeam(lanes).run(step.kernel(true));

    // 8 - 1/2 * 1/8 * 8 = 7.5; 7.5 -+ 1/2 * 1 / (1 + 1)
    EXPECT_EQ(step.theta, (std::vector<double>{7.25, 7.25, 7.25, 7.25, 7.75}));
    EXPECT_EQ(step.moment1, (std::vector<double>{0.5, 0.5, 0.5, 0.5, -0.5}));
    EXPECT_EQ(step.moment2, std::vector<double>(5, 0.25));
  }
}

TEST(AdamW, LeavesDecayOutWhereTheParameterSaysSo) {
  FirstStep step;

  LaneTeam(3).run(step.kernel(false));

  EXPECT_EQ(step.theta, (std::vector<double>{7.75, 7.75, 7.75, 7.75, 8.25}));
}

TEST(AdamW, SecondStepWeighsTheOldMoments) {
  FirstStep step;
  step.moment1.assign(5, 2);
  step.moment2.assign(5, 4);

  LaneTeam(3).run(step.kernel(false));

  // m = 1/2 * 2 + 1/2 * 1, v = 3/4 * 4 + 1/4 * 1
  EXPECT_EQ(step.moment1[0], 1.5);
  EXPECT_EQ(step.moment2[0], 3.25);
}

TEST(Sgd, SubtractsTheClippedGradient) {
  const std::vector<double> grad = {4, 8, 12, 16, 20};
  for (const int lanes : kLaneCounts) {
    std::vector<double> theta(5, 1);

    LaneTeam(lanes).run(Sgd<double>{theta.data(), grad.data(), 5, 0.5, 0.25});

    EXPECT_EQ(theta, (std::vector<double>{0.5, 0, -0.5, -1, -1.5}));
  }
}

TEST(Momentum, KeepsAShareOfTheLastStep) {
  const std::vector<double> grad(5, 4);
  for (const int lanes : kLaneCounts) {
    std::vector<double> theta(5, 1), moment(5, 2);

    LaneTeam(lanes).run(
        Momentum<double>{theta.data(), grad.data(), moment.data(), 5, 0.5, 0.25, 0.5});

    EXPECT_EQ(moment, std::vector<double>(5, 3));  // 1/2 * 2 + 1/2 * 4
    EXPECT_EQ(theta, std::vector<double>(5, 0.25));
  }
}

}  // namespace
}  // namespace meshparity
