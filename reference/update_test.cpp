// Clip and the optimizer laws against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/clip.hpp"
#include "reference/micro_case.hpp"
#include "reference/optimizer.hpp"

namespace meshparity::reference {
namespace {

constexpr double kFewUlp = 8 * 0x1p-53;

TEST(Clip, TheNormSpansAllMatrices) {
  Rounding exact = Rounding::exact();
  const std::vector<Matrix> gradients = {matrix({{2, 1}, {2, 0}}), Matrix(0, 0), matrix({{4}})};
  EXPECT_EQ(global_norm(gradients, exact), 5);
}

TEST(Clip, ScalesDownToTheLimit) {
  Rounding exact = Rounding::exact();
  const Clip clipped = clip(5, 2.5, std::nullopt, exact);
  EXPECT_TRUE(clipped.active);
  EXPECT_EQ(clipped.coefficient, 2.5 / 5.000001);
  EXPECT_EQ(clipped.margin, 2.5);
}

TEST(Clip, LeavesASmallGradientAlone) {
  Rounding exact = Rounding::exact();
  const Clip idle = clip(5, 8, std::nullopt, exact);
  EXPECT_FALSE(idle.active);
  EXPECT_EQ(idle.coefficient, 1);
  EXPECT_EQ(idle.margin, -3);
  EXPECT_EQ(clip(5, std::nullopt, std::nullopt, exact).coefficient, 1);
}

TEST(Clip, AFrozenChoiceIsKept) {
  Rounding exact = Rounding::exact();
  EXPECT_EQ(clip(5, 2.5, false, exact).coefficient, 1);
  EXPECT_EQ(clip(5, 10, true, exact).coefficient, 10 / 5.000001);
}

// lr 0.1, b1 0.9, b2 0.75, eps 0.25, wd 0.5; theta 1, g 0.5 twice. Bias correction makes m^ = 0.5
// and v^ = 0.25 in both steps, so each is theta 0.95 - 0.1 * 0.5 / 0.75.
TEST(Adamw, FollowsFormAForTwoSteps) {
  const AdamwNumbers numbers = {0.1, 0.9, 0.75, 0.25, 0.5};
  const Matrix gradient = matrix({{0.5}});
  Matrix value = matrix({{1}});
  Matrix moment1 = matrix({{0}});
  Matrix moment2 = matrix({{0}});
  const double step = 1.0 / 15;

  adamw(numbers, 1, gradient, {value, moment1, moment2});
  EXPECT_LE(std::abs(value(0, 0) - (0.95 - step)), kFewUlp);
  EXPECT_LE(std::abs(moment1(0, 0) - 0.05), kFewUlp);
  EXPECT_LE(std::abs(moment2(0, 0) - 0.0625), kFewUlp);

  adamw(numbers, 2, gradient, {value, moment1, moment2});
  EXPECT_LE(std::abs(value(0, 0) - (0.95 * (0.95 - step) - step)), kFewUlp);
  EXPECT_LE(std::abs(moment1(0, 0) - 0.095), kFewUlp);
  EXPECT_LE(std::abs(moment2(0, 0) - 0.109375), kFewUlp);
}

TEST(Sgd, StepsAgainstTheGradient) {
  Rounding exact = Rounding::exact();
  Matrix value = matrix({{1, 2}});
  sgd(0.5, matrix({{4, -2}}), exact, value);
  EXPECT_EQ(value, matrix({{-1, 3}}));
}

TEST(MomentumSgd, RemembersEarlierGradients) {
  Rounding exact = Rounding::exact();
  Matrix value = matrix({{1}});
  Matrix moment = matrix({{8}});
  momentum_sgd({0.5, 0.25}, matrix({{4}}), exact, moment, value);
  EXPECT_EQ(moment, matrix({{6}}));
  EXPECT_EQ(value, matrix({{-2}}));
}

}  // namespace
}  // namespace meshparity::reference
