// Which terms the noise of the sums counts: weight gradients, scatter, attention; and that all of a
// run's noise is proportional to u.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/attention_noise.hpp"
#include "reference/gradient_sum.hpp"
#include "reference/linear.hpp"
#include "reference/micro_case.hpp"
#include "reference/state.hpp"

namespace meshparity::reference {
namespace {

constexpr double kU = 0x1p-24;
constexpr double kRelative = 0x1p-24;  // FP64 rounds the noise by 2^-29 of values up to 16

Rounding fp32() {
  return Rounding::noisy(kFp32Lane, {});
}

/// u sqrt(((1 + K/6) Q + (K/3) y^2) / 3)
double deviation(double terms, double squares, double value) {
  return kU * std::sqrt(((1 + terms / 6) * squares + terms / 3 * value * value) / 3);
}

// x = (1, 2), W = (3, 4; 5, 6): column norms of W 34 and 52, row norms 25 and 61.
TEST(LinearNoise, CountsTheTermsOfARowAndAColumn) {
  const Matrix x = matrix({{1, 2}});
  const Weight w(matrix({{3, 4}, {5, 6}}));
  Rounding rounding = fp32();
  Matrix y(1, 2);

  multiply(x, w, rounding, y);
  EXPECT_NEAR(std::abs(y(0, 0) - 13) / deviation(2, 5.0 * 34 / 2, 13), 1, kRelative);
  EXPECT_NEAR(std::abs(y(0, 1) - 16) / deviation(2, 5.0 * 52 / 2, 16), 1, kRelative);

  multiply_transposed(x, w, rounding, y);
  EXPECT_NEAR(std::abs(y(0, 0) - 11) / deviation(2, 5.0 * 25 / 2, 11), 1, kRelative);
  EXPECT_NEAR(std::abs(y(0, 1) - 17) / deviation(2, 5.0 * 61 / 2, 17), 1, kRelative);
}

TEST(GradientSum, AProductCountsTheTokensOfAllSamples) {
  GradientSum sum(1, 1, GradientKind::product, true);
  GradientSum other(1, 1, GradientKind::product, true);
  sum.add_product(matrix({{1}, {2}}), matrix({{1}, {1}}));    // |x|^2 5, |dy|^2 2, value 3
  other.add_product(matrix({{0}, {1}}), matrix({{1}, {3}}));  // 1, 10, 3
  sum.add(other);
  Rounding rounding = fp32();

  sum.finish(rounding);

  EXPECT_NEAR(std::abs(sum.value(0, 0) - 6) / deviation(4, 6.0 * 12 / 4, 6), 1, kRelative);
}

TEST(GradientSum, AVectorCountsItsRows) {
  GradientSum sum(1, 2, GradientKind::per_term, true);
  sum.add_rows(matrix({{1, 5}, {2, -5}}));
  Rounding rounding = fp32();

  sum.finish(rounding);

  EXPECT_NEAR(std::abs(sum.value(0, 0) - 3) / deviation(2, 5, 3), 1, kRelative);
  EXPECT_NEAR(std::abs(sum.value(0, 1)) / deviation(2, 50, 0), 1, kRelative);
}

TEST(GradientSum, AScatterCountsTheOccurrencesOfEachToken) {
  GradientSum sum(3, 1, GradientKind::per_term, true);
  sum.scatter({2, 0, 2}, matrix({{1}, {4}, {2}}));
  Rounding rounding = fp32();

  sum.finish(rounding);

  EXPECT_NEAR(std::abs(sum.value(0, 0) - 4) / deviation(1, 16, 4), 1, kRelative);
  EXPECT_EQ(sum.value(1, 0), 0);
  EXPECT_NEAR(std::abs(sum.value(2, 0) - 3) / deviation(2, 5, 3), 1, kRelative);
}

TEST(GradientSum, SetZeroForgetsTheTermsToo) {
  GradientSum sum(1, 1, GradientKind::per_term, true);
  sum.add_elements(matrix({{8}}));
  sum.set_zero();
  sum.add_elements(matrix({{3}}));
  Rounding rounding = fp32();
  sum.finish(rounding);
  EXPECT_NEAR(std::abs(sum.value(0, 0) - 3) / deviation(1, 9, 3), 1, kRelative);
}

// One head of width 1, two tokens. Query 1's sum over keys has 2 terms: pairs (1, 2), values (4,
// 8).
TEST(AttentionNoise, ASumOverKeysHasTheVisibleOnes) {
  Matrix sums = matrix({{4}, {20}});
  Rounding rounding = fp32();

  add_key_sum_noise({1, 1, 1}, matrix({{1, 0}, {1, 2}}), matrix({{4}, {8}}), rounding, sums);

  EXPECT_NEAR(std::abs(sums(0, 0) - 4) / deviation(1, 16, 4), 1, kRelative);
  EXPECT_NEAR(std::abs(sums(1, 0) - 20) / deviation(2, 5.0 * 80 / 2, 20), 1, kRelative);
}

// Key 0's sum over queries has 2 terms: pairs (1, 1), values (4, 8); key 1's has 1: pair 2,
// value 8.
TEST(AttentionNoise, ASumOverQueriesHasThoseThatSeeTheKey) {
  Matrix sums = matrix({{12}, {16}});
  Rounding rounding = fp32();

  add_query_sum_noise({1, 1, 1}, matrix({{1, 0}, {1, 2}}), matrix({{4}, {8}}), rounding, sums);

  EXPECT_NEAR(std::abs(sums(0, 0) - 12) / deviation(2, 2.0 * 80 / 2, 12), 1, kRelative);
  EXPECT_NEAR(std::abs(sums(1, 0) - 16) / deviation(1, 4.0 * 64, 16), 1, kRelative);
}

TEST(AttentionNoise, AScoreHasTheTermsOfItsHead) {
  Matrix pairs = matrix({{11, 0}, {0, 0}, {0, 0}, {0, 0}});
  const Matrix left = matrix({{1, 2, 0, 0}, {0, 0, 0, 0}});
  const Matrix right = matrix({{3, 4, 9, 9}, {0, 0, 9, 9}});
  Rounding rounding = fp32();

  add_pair_noise({2, 2, 2}, left, right, rounding, pairs);

  EXPECT_NEAR(std::abs(pairs(0, 0) - 11) / deviation(2, 5.0 * 25 / 2, 11), 1, kRelative);
  pairs(0, 0) = 0;
  EXPECT_EQ(pairs, Matrix::Zero(4, 2));
}

/// Deviation of a noisy run's head gradient and logits, in units of u.
struct Deviations {
  Matrix logits;
  Matrix gradient;
};
Deviations deviations_of(const Problem& problem, Rounding rounding, double u) {
  const Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
  const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), 0);
  const auto run = [&](Rounding policy) {
    SampleWork work(problem.model());
    std::vector<GradientSum> sums = problem.network.gradient_sums(!policy.is_exact());
    problem.network.forward(weights, sample, policy, work);
    problem.network.backward(weights, sample, policy, work, sums);
    sums.front().finish(policy);
    return Deviations{work.values.logits, sums.front().value};
  };
  const Deviations exact = run(Rounding::exact());
  const Deviations noisy = run(rounding);
  return {(noisy.logits - exact.logits) / u, (noisy.gradient - exact.gradient) / u};
}

TEST(Noise, IsProportionalToTheUnitRoundoff) {
  const Problem problem = micro_problem();
  const Lane wide = {"same", 0x1p-14, 0x1p-14, 0, 0, 0};
  const Lane narrow = {"same", 0x1p-34, 0x1p-34, 0, 0, 0};
  const Deviations at_wide = deviations_of(problem, Rounding::noisy(wide, {}), 0x1p-14);
  const Deviations at_narrow = deviations_of(problem, Rounding::noisy(narrow, {}), 0x1p-34);

  EXPECT_GT(at_wide.logits.norm(), 0.1 * std::sqrt(static_cast<double>(at_wide.logits.size())));
  EXPECT_LE(std::abs(at_wide.logits.norm() / at_narrow.logits.norm() - 1), 0.01);
  EXPECT_LE(std::abs(at_wide.gradient.norm() / at_narrow.gradient.norm() - 1), 0.01);
  EXPECT_LE(largest_difference(at_wide.logits, at_narrow.logits), 0.01 * at_wide.logits.norm());
}

}  // namespace
}  // namespace meshparity::reference
