// Each operation against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/cross_entropy.hpp"
#include "reference/dropout.hpp"
#include "reference/embedding.hpp"
#include "reference/gelu.hpp"
#include "reference/linear.hpp"
#include "reference/micro_case.hpp"
#include "reference/norm.hpp"

namespace meshparity::reference {
namespace {

constexpr double kFewUlp = 8 * 0x1p-53;  // relative to results of order one

std::vector<GradientSum> linear_sums(Eigen::Index in, Eigen::Index out) {
  std::vector<GradientSum> sums;
  sums.emplace_back(in, out, GradientKind::product, false);
  sums.emplace_back(1, out, GradientKind::per_term, false);
  return sums;
}

TEST(Linear, MultipliesAndAddsTheBias) {
  const Weights weights = {Weight(matrix({{1, 0, 2}, {-1, 1, 0}})), Weight(matrix({{0.5, 0, -1}}))};
  Rounding exact = Rounding::exact();
  Matrix y(2, 3);

  linear(matrix({{1, 2}, {3, 4}}), weights, {0, 1}, exact, y);

  EXPECT_EQ(y, matrix({{-0.5, 2, 1}, {-0.5, 4, 5}}));
}

TEST(Linear, GradientsAreTransposedProducts) {
  const Matrix x = matrix({{1, 2}, {3, 4}});
  const Matrix dy = matrix({{1, 0, -1}, {0, 2, 1}});
  const Weight w(matrix({{1, 0, 2}, {-1, 1, 0}}));
  Rounding exact = Rounding::exact();
  std::vector<GradientSum> sums = linear_sums(2, 3);
  Matrix dx(2, 2);

  add_linear_gradient(x, dy, {0, 1}, exact, sums);
  add_linear_gradient(x, dy, {0, 1}, exact, sums);
  multiply_transposed(dy, w, exact, dx);

  EXPECT_EQ(sums[0].value, 2 * matrix({{1, 6, 2}, {2, 8, 2}}));
  EXPECT_EQ(sums[1].value, 2 * matrix({{1, 2, 0}}));
  EXPECT_EQ(dx, matrix({{-1, -1}, {2, 2}}));
}

// x = (1, 3): mean 2, var 1; with epsilon 3 the deviation is 2, so x^ = (-1/2, 1/2).
TEST(LayerNorm, NormalisesScalesAndShifts) {
  const Matrix weight = matrix({{2, 4}});
  const Matrix bias = matrix({{10, 20}});
  Rounding exact = Rounding::exact();
  NormTrace trace;
  Matrix y;

  layer_norm(matrix({{1, 3}, {5, 5}}), {weight, &bias, 3}, exact, trace, y);

  EXPECT_EQ(y, matrix({{9, 22}, {10, 20}}));
  EXPECT_EQ(trace.normalised, matrix({{-0.5, 0.5}, {0, 0}}));
}

// dy = (1, 1): q = (2, 4), mean(q) = 3, mean(q x^) = (-1 + 2)/2 = 1/2,
// dx = (q - 3 - x^/2) / 2 = (-1 + 1/4, 1 - 1/4) / 2.
TEST(LayerNorm, BackwardProjectsOutMeanAndScale) {
  NormTrace trace;
  trace.normalised = matrix({{-0.5, 0.5}});
  trace.inverse_deviation = Column::Constant(1, 0.5);
  const Matrix dy = matrix({{1, 1}});
  Rounding exact = Rounding::exact();
  std::vector<GradientSum> sums(2, GradientSum(1, 2, GradientKind::per_term, false));
  Matrix dx;

  layer_norm_backward(dy, matrix({{2, 4}}), trace, exact, dx);
  add_norm_gradient(dy, trace, {0, 1}, sums);

  EXPECT_EQ(dx, matrix({{-0.375, 0.375}}));
  EXPECT_EQ(sums[0].value, matrix({{-0.5, 0.5}}));
  EXPECT_EQ(sums[1].value, matrix({{1, 1}}));
}

// Phi(1) = 0.84134474606854293, phi(1) = 0.24197072451914337; Phi(-2) = 0.022750131948179212,
// phi(2) = 0.053990966513188063 (tables of the normal distribution).
TEST(Gelu, IsXTimesTheNormalDistribution) {
  Rounding exact = Rounding::exact();
  const Matrix x = matrix({{0, 1, -2}});
  Matrix cdf;
  Matrix y;
  Matrix dx;

  gelu(x, exact, cdf, y);
  gelu_backward(x, cdf, matrix({{1, 1, 10}}), exact, dx);

  const Matrix expected = matrix({{0, 0.84134474606854293, -0.045500263896358424}});
  const Matrix slopes = matrix({{0.5, 1.0833154705876863, -0.85231801078196914}});
  EXPECT_LE(largest_difference(y, expected), kFewUlp);
  EXPECT_LE(largest_difference(dx, slopes), kFewUlp);
}

TEST(Dropout, ScalesWhatItKeeps) {
  const DropoutMask mask = {matrix({{1, 0}, {0, 1}}), 0.75};
  Rounding exact = Rounding::exact();
  Matrix y;

  dropout(matrix({{3, 4}, {5, 6}}), mask, exact, y);

  EXPECT_EQ(y, matrix({{4, 0}, {0, 8}}));
}

TEST(Dropout, WithoutAMaskCopiesEvenInANoisyRun) {
  Rounding noisy = Rounding::noisy(kFp32Lane, {});
  const Matrix x = matrix({{1.0 / 3, 4}});
  Matrix y;
  dropout(x, {}, noisy, y);
  EXPECT_EQ(y, x);
}

// floor(p 2^32) equal to an element's word keeps it, one more drops it.
TEST(Dropout, KeepsWordsFromTheThresholdOn) {
  const WordStream words = {7, 2, 1, WordOp::mlp_residual_dropout};
  DropoutMask mask;
  mask.keep.resize(1, 1);
  for (std::uint64_t element = 300; element < 400; ++element) {
    const double word = words.word(element);
    draw_mask(words, element, word * 0x1p-32, mask);
    EXPECT_EQ(mask.keep(0, 0), 1) << element;
    EXPECT_EQ(mask.keep_probability, 1 - word * 0x1p-32);
    draw_mask(words, element, (word + 1) * 0x1p-32, mask);
    EXPECT_EQ(mask.keep(0, 0), 0) << element;
  }
}

TEST(Embedding, GathersRowsAndAddsPositions) {
  Rounding exact = Rounding::exact();
  Matrix rows(3, 2);
  Matrix sum;

  embed_tokens({2, 0, 2}, matrix({{1, 2}, {3, 4}, {5, 6}}), rows);
  add_positions(rows, matrix({{10, 20}, {30, 40}, {50, 60}}), exact, sum);

  EXPECT_EQ(rows, matrix({{5, 6}, {1, 2}, {5, 6}}));
  EXPECT_EQ(sum, matrix({{15, 26}, {31, 42}, {55, 66}}));
}

TEST(Embedding, ScattersGradientsOfRepeatedTokens) {
  GradientSum sum(3, 2, GradientKind::per_term, false);
  sum.scatter({2, 0, 2}, matrix({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(sum.value, matrix({{3, 4}, {0, 0}, {6, 8}}));
}

// Logits (0, ln 3): p = (1/4, 3/4). Label 1, s = 1/5: the mean of -log p is (ln 4 + ln(4/3))/2.
TEST(CrossEntropy, SmoothsOverAllClassesAndWeighsTokens) {
  const std::vector<int> labels = {1, 0};
  Row weights(2);
  weights << 1, 0;
  const LossTargets targets = {labels, weights, weights, 0.2};
  Rounding exact = Rounding::exact();
  Matrix probs;
  Matrix losses(1, 2);
  Matrix dlogits;

  cross_entropy(matrix({{0, std::log(3.0)}, {5, 7}}), targets, exact, probs, losses);
  cross_entropy_backward(probs, targets, exact, dlogits);

  const double nll = std::log(4.0 / 3);
  EXPECT_LE(std::abs(losses(0, 0) - (0.8 * nll + 0.1 * (std::log(4.0) + nll))), kFewUlp);
  EXPECT_EQ(losses(0, 1), 0);
  EXPECT_LE(largest_difference(probs.row(0), matrix({{0.25, 0.75}})), kFewUlp);
  EXPECT_LE(largest_difference(dlogits, matrix({{0.15, -0.15}, {0, 0}})), kFewUlp);
}

TEST(CrossEntropy, WithoutSmoothingIsTheLabelsLogProbability) {
  const std::vector<int> labels = {0};
  const Row weights = Row::Ones(1);
  Rounding exact = Rounding::exact();
  Matrix probs;
  Matrix losses(1, 1);

  cross_entropy(matrix({{1000, 1000 + std::log(3.0)}}), {labels, weights, weights, 0}, exact, probs,
                losses);

  EXPECT_LE(std::abs(losses(0, 0) - std::log(4.0)), 1000 * kFewUlp);
}

}  // namespace
}  // namespace meshparity::reference
