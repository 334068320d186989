#include "parallel_impl/kernels/rms_norm.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// Row 0 has squares 1 + 4 + 4 + 9 + 12.25 = 30.25: their mean 6.05 and an epsilon of 0.2 make an
// rms of 2.5, about; with epsilon 9.95 it is 4. Row 1 is zero: its rms is the root of epsilon.
const std::vector<double> kX = {1, -2, 2, 3, 3.5, 0, 0, 0, 0, 0};
const std::vector<double> kWeight = {1, 2, 1, -2, 4};
constexpr double kEpsilon = 9.95;

TEST(RmsNorm, ForwardOfARowWorkedByHand) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(10, 99), inverse(2);

    LaneTeam(lanes).run(RmsNormForward<double>{kX.data(), kWeight.data(), out.data(),
                                               inverse.data(), 2, 5, kEpsilon});

    EXPECT_DOUBLE_EQ(inverse[0], 0.25);
    EXPECT_DOUBLE_EQ(inverse[1], 1 / std::sqrt(9.95));
    const std::vector<double> expected = {0.25, -1, 0.5, -1.5, 3.5, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < out.size(); ++i) {
      EXPECT_DOUBLE_EQ(out[i], expected[i]) << i;
    }
  }
}

// x = (2, 4, 0, 0, 0) at an inverse rms of 0.5 is n = (1, 2, 0, 0, 0); with weights of one and
// dy = (5, 0, 1, 0, 0) the mean of dy * n is 1, and dx = (dy - n) / 2.
TEST(RmsNorm, BackwardTakesTheComponentAlongTheRowOutAndKeepsTheMean) {
  const std::vector<double> x = {2, 4, 0, 0, 0};
  const std::vector<double> weight = {1, 1, 1, 1, 1};
  const std::vector<double> inverse = {0.5};
  for (const int lanes : kLaneCounts) {
    std::vector<double> grad = {5, 0, 1, 0, 0};

    LaneTeam(lanes).run(RmsNormBackward<double>{x.data(), weight.data(), inverse.data(),
                                                grad.data(), grad.data(), 1, 5});

    EXPECT_EQ(grad, (std::vector<double>{2, -1, 0.5, 0, 0}));
  }
}

TEST(RmsNorm, BackwardWeighsTheGradientFirst) {
  const std::vector<double> x = {2, 4, 0, 0, 0};
  const std::vector<double> weight = {1, 5, 2, 1, 1};
  const std::vector<double> inverse = {0.5};
  std::vector<double> dx(5, 99);

  // q = (5, 5, 2, 0, 0), mean of q * n = (5 + 10) / 5 = 3.
  LaneTeam(3).run(RmsNormBackward<double>{x.data(), weight.data(), inverse.data(),
                                          std::vector<double>{5, 1, 1, 0, 0}.data(), dx.data(), 1,
                                          5});

  EXPECT_EQ(dx, (std::vector<double>{1, -0.5, 1, 0, 0}));
}

TEST(RmsNorm, WeightGradientsSumOverRows) {
  const std::vector<double> x = {2, 4, 0, 2, 2, 1, 1, 1, 1, 1};
  const std::vector<double> inverse = {0.5, 2};
  const std::vector<double> dy = {5, 1, 7, 0, -1, 1, 2, 3, 4, 5};
  for (const int lanes : kLaneCounts) {
    std::vector<double> grad_weight(5, 99);

    LaneTeam(lanes).run(RmsNormParameterGrad<double>{x.data(), inverse.data(), dy.data(),
                                                     grad_weight.data(), 2, 5});

    EXPECT_EQ(grad_weight, (std::vector<double>{7, 6, 6, 8, 9}));
  }
}

}  // namespace
}  // namespace meshparity
