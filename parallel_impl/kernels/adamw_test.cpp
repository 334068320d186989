#include "parallel_impl/kernels/adamw.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"
#include "parallel_impl/kernels/master_update.cuh"
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

// 8 - 2^-30 is no float: the copy is the nearest, 8, and the master keeps the difference.
TEST(MasterUpdate, MovesTheMasterInDoubleAndRoundsTheCopy) {
  const double tiny = std::ldexp(1.0, -30);
  const std::vector<float> grad(5, 4.0F);
  for (const int lanes : kLaneCounts) {
    std::vector<double> masters(5, 8), momenta(5, 0), moment1(5, 0), moment2(5, 0);
    std::vector<float> copy(5, 1.0F);

    LaneTeam(lanes).run(
        MasterSgd<float>{{masters.data(), nullptr, 5, 0.5, tiny / 2}, grad.data(), copy.data()});
    EXPECT_EQ(masters, std::vector<double>(5, 8 - tiny));
    EXPECT_EQ(copy, std::vector<float>(5, 8.0F));

    LaneTeam(lanes).run(MasterMomentum<float>{
        {masters.data(), nullptr, momenta.data(), 5, 0.5, 1.0, 0.5}, grad.data(), copy.data()});
    EXPECT_EQ(momenta, std::vector<double>(5, 2));
    EXPECT_EQ(masters, std::vector<double>(5, 6 - tiny));
    EXPECT_EQ(copy, std::vector<float>(5, 6.0F));
  }
}

TEST(MasterUpdate, OfAdamWIsTheRuleInDouble) {
  FirstStep step;
  const std::vector<float> grad = {2, 2, 2, 2, -2};
  std::vector<float> copy(5);

  LaneTeam(3).run(MasterAdamW<float>{step.kernel(true), grad.data(), copy.data()});

  EXPECT_EQ(step.theta, (std::vector<double>{7.25, 7.25, 7.25, 7.25, 7.75}));
  EXPECT_EQ(copy, (std::vector<float>{7.25F, 7.25F, 7.25F, 7.25F, 7.75F}));
  EXPECT_EQ(step.moment2, std::vector<double>(5, 0.25));
}

// As a float the master would be the tie between 1 and its neighbour.
TEST(MasterUpdate, AShortCopyIsTheMasterRoundedOnce) {
  std::vector<double> masters = {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8 - 0x1p-40, 1 + 0x3p-8 - 0x1p-40};
  const std::vector<float> grad(3, 0);
  std::vector<float> copy(3, 99);

  LaneTeam(3).run(
      MasterSgd<float>{{masters.data(), nullptr, 3, 1, 0.1}, grad.data(), {copy.data(), true}});

  EXPECT_EQ(copy, (std::vector<float>{1 + 0x1p-7F, 1, 1 + 0x1p-7F}));
}

}  // namespace
}  // namespace meshparity
