#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"
#include "parallel_impl/kernels/layer_norm.cuh"

namespace meshparity {
namespace {

// Row 0 is 1..5: mean 3, variance 2, with epsilon 2 sigma is 2 and the normal row (-1 .. 1). Row 1
// is constant: its normal row is 0.
const std::vector<double> kX = {1, 2, 3, 4, 5, 7, 7, 7, 7, 7};
const std::vector<double> kWeight = {1, 2, 1, 2, 4};
const std::vector<double> kBias = {0, 0, 10, 0, 1};
const std::vector<double> kMean = {3, 3};
const std::vector<double> kInverse = {0.5, 0.5};

TEST(LayerNorm, ForwardOfARowWorkedByHand) {
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(10), mean(2), inverse(2);

    LaneTeam(lanes).run(LayerNormForward<double>{kX.data(), kWeight.data(), kBias.data(),
                                                 out.data(), mean.data(), inverse.data(), 2, 5,
                                                 2.0});

    EXPECT_EQ(out, (std::vector<double>{-1, -1, 10, 1, 5, 0, 0, 10, 0, 1}));
    EXPECT_EQ(mean, (std::vector<double>{3, 7}));
    EXPECT_EQ(inverse, (std::vector<double>{0.5, 1 / std::sqrt(2.0)}));
  }
}

TEST(LayerNorm, BackwardTakesTheMeanAndTheComponentAlongTheRowOut) {
  // q = (5,0,0,0,0), mean(q) = 1, mean(q n) = -1, dx = (q - 1 + n) / 2.
  const std::vector<double> dy = {5, 0, 0, 0, 0};
  for (const int lanes : kLaneCounts) {
    std::vector<double> dx(5);

    LaneTeam(lanes).run(LayerNormBackward<double>{kX.data(), kWeight.data(), kMean.data(),
                                                  kInverse.data(), dy.data(), dx.data(), 1, 5});

    EXPECT_EQ(dx, (std::vector<double>{1.5, -0.75, -0.5, -0.25, 0}));
  }
}

TEST(LayerNorm, BackwardMayOverwriteItsInput) {
  std::vector<double> grad = {5, 0, 0, 0, 0};

  LaneTeam(3).run(LayerNormBackward<double>{kX.data(), kWeight.data(), kMean.data(),
                                            kInverse.data(), grad.data(), grad.data(), 1, 5});

  EXPECT_EQ(grad, (std::vector<double>{1.5, -0.75, -0.5, -0.25, 0}));
}

TEST(LayerNorm, ParameterGradientsSumOverRows) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5};
  const std::vector<double> dy = {5, 0, 0, 0, 0, 1, 1, 1, 1, 1};
  for (const int lanes : kLaneCounts) {
    std::vector<double> grad_weight(5, 99), grad_bias(5, 99);

    LaneTeam(lanes).run(LayerNormParameterGrad<double>{x.data(), kMean.data(), kInverse.data(),
                                                       dy.data(), grad_weight.data(),
                                                       grad_bias.data(), 2, 5});

    EXPECT_EQ(grad_weight, (std::vector<double>{-6, -0.5, 0, 0.5, 1}));
    EXPECT_EQ(grad_bias, (std::vector<double>{6, 1, 1, 1, 1}));
  }
}

}  // namespace
}  // namespace meshparity
