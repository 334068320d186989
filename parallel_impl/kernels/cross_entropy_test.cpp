#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/cross_entropy.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// One token whose logits are ln 1, ln 3, ln 4, over a vocabulary of 3 in 5 columns of memory: the
// probabilities are 1/8, 3/8, 1/2. Padding holds what would be the maximum.
const std::vector<double> kLogits = {0, std::log(3.0), std::log(4.0), 50, 50};
const VocabularySlice kWhole = {0, 5, 3, 3};
const double kMax = std::log(4.0);
const int kLabel = 1;

TEST(CrossEntropy, PaddingTakesNoPartInTheMaximum) {
  for (const int lanes : kLaneCounts) {
    double top = 0;

    LaneTeam(lanes).run(LogitMax<double>{kLogits.data(), &top, 1, kWhole});

    EXPECT_EQ(top, kMax);
  }
}

TEST(CrossEntropy, ASliceOfPaddingHasNoMaximumAndNoSum) {
  const VocabularySlice padding = {3, 2, 0, 3};
  double top = 0, target = 9, exponentials = 9, plain = 9;

  LaneTeam(3).run(LogitMax<double>{kLogits.data() + 3, &top, 1, padding});
  LaneTeam(3).run(LogitSums<double>{kLogits.data() + 3, &kMax, &kLabel, &target, &exponentials,
                                    &plain, 1, padding});

  EXPECT_EQ(top, -INFINITY);
  EXPECT_EQ(target, 0);
  EXPECT_EQ(exponentials, 0);
  EXPECT_EQ(plain, 0);
}

TEST(CrossEntropy, SumsAreOfLogitsLessTheMaximum) {
  for (const int lanes : kLaneCounts) {
    double target = 0, exponentials = 0, plain = 0;

    LaneTeam(lanes).run(LogitSums<double>{kLogits.data(), &kMax, &kLabel, &target, &exponentials,
                                          &plain, 1, kWhole});

    EXPECT_DOUBLE_EQ(target, std::log(0.75));
    EXPECT_DOUBLE_EQ(exponentials, 2);  // 1/4 + 3/4 + 1
    EXPECT_DOUBLE_EQ(plain, std::log(12.0) - 3 * kMax);
  }
}

TEST(CrossEntropy, SumsOfSlicesAddUpToThoseOfTheWhole) {
  const VocabularySlice left = {0, 2, 2, 3};
  const VocabularySlice right = {2, 3, 1, 3};
  double target[2], exponentials[2], plain[2];

  LaneTeam(3).run(LogitSums<double>{kLogits.data(), &kMax, &kLabel, &target[0], &exponentials[0],
                                    &plain[0], 1, left});
  LaneTeam(3).run(LogitSums<double>{kLogits.data() + 2, &kMax, &kLabel, &target[1],
                                    &exponentials[1], &plain[1], 1, right});

  EXPECT_DOUBLE_EQ(target[0], std::log(0.75));
  EXPECT_EQ(target[1], 0);
  EXPECT_DOUBLE_EQ(exponentials[0] + exponentials[1], 2);
  EXPECT_DOUBLE_EQ(plain[0] + plain[1], std::log(12.0) - 3 * kMax);
}

TEST(CrossEntropy, OnlyTheOwnerOfTheLabelHasItsLogit) {
  const std::vector<double> logits = {kMax, std::log(3.0), 0, 50, 50};
  const VocabularySlice left = {0, 2, 2, 3};
  const VocabularySlice right = {2, 3, 1, 3};
  const double weight = 1, exponentials = 2;
  for (const int label : {0, 1, 2}) {
    double target[2], sink = 0;
    std::vector<double> grad(5);

    LaneTeam(3).run(
        LogitSums<double>{logits.data(), &kMax, &label, &target[0], &sink, &sink, 1, left});
    LaneTeam(3).run(
        LogitSums<double>{logits.data() + 2, &kMax, &label, &target[1], &sink, &sink, 1, right});
    LaneTeam(3).run(LogitGrad<double>{logits.data(), &kMax, &exponentials, &label, &weight,
                                      grad.data(), 1, left, 0});
    LaneTeam(3).run(LogitGrad<double>{logits.data() + 2, &kMax, &exponentials, &label, &weight,
                                      grad.data() + 2, 1, right, 0});

    EXPECT_EQ(target[label / 2], logits[static_cast<std::size_t>(label)] - kMax);
    EXPECT_EQ(target[1 - label / 2], 0);
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(grad[static_cast<std::size_t>(j)] < 0, j == label) << j;
    }
  }
}

TEST(CrossEntropy, SmoothingSharesMassOverTheGlobalVocabulary) {
  const double target = std::log(0.75), exponentials = 2, plain = std::log(12.0) - 3 * kMax;
  const double weight = 2;
  double loss = 0;

  LaneTeam(3).run(TokenLoss<double>{&target, &exponentials, &plain, &weight, &loss, 1, 3, 0.3});

  const double label_term = std::log(8.0 / 3.0);
  const double mean_term = (std::log(8.0) + std::log(8.0 / 3.0) + std::log(2.0)) / 3;
  EXPECT_DOUBLE_EQ(loss, 2 * (0.7 * label_term + 0.3 * mean_term));
}

TEST(CrossEntropy, GradientIsProbabilityLessWhatIsWantedAndZeroInPadding) {
  const double exponentials = 2, weight = 2;
  for (const int lanes : kLaneCounts) {
    std::vector<double> grad = kLogits;

    LaneTeam(lanes).run(LogitGrad<double>{grad.data(), &kMax, &exponentials, &kLabel, &weight,
                                          grad.data(), 1, kWhole, 0.3});

    EXPECT_DOUBLE_EQ(grad[0], 2 * (0.125 - 0.1));
    EXPECT_DOUBLE_EQ(grad[1], 2 * (0.375 - 0.8));
    EXPECT_DOUBLE_EQ(grad[2], 2 * (0.5 - 0.1));
    EXPECT_EQ(grad[3], 0);
    EXPECT_EQ(grad[4], 0);
  }
}

TEST(CrossEntropy, ATokenOfWeightZeroHasNeitherLossNorGradient) {
  const double target = std::log(0.75), exponentials = 2, plain = 0, weight = 0;
  double loss = 9;
  std::vector<double> grad(5, 9);

  LaneTeam(1).run(TokenLoss<double>{&target, &exponentials, &plain, &weight, &loss, 1, 3, 0.3});
  LaneTeam(3).run(LogitGrad<double>{kLogits.data(), &kMax, &exponentials, &kLabel, &weight,
                                    grad.data(), 1, kWhole, 0.3});

  EXPECT_EQ(loss, 0);
  EXPECT_EQ(grad, std::vector<double>(5));
}

}  // namespace
}  // namespace meshparity
