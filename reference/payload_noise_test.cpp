// The noise of gradients that travel in bfloat16: its size against sums that were really rounded,
// however samples are dealt out, and which records of a step it reaches.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "reference/gradient_sum.hpp"
#include "reference/micro_case.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

constexpr double kU = 0x1p-8;

// Samples of 3 and -1 in one element: value 2, squares 10. Another run counts half: 4 becomes 2.
TEST(PayloadNoise, CountsTheSquareOfWhatEachSampleAdds) {
  GradientSum sum(1, 1, GradientKind::per_term, false);
  GradientSum other(1, 1, GradientKind::per_term, false);
  sum.watch_samples();
  other.watch_samples();
  sum.add_rows(matrix({{1}, {2}}));
  sum.end_sample();
  sum.add_rows(matrix({{-1}}));
  sum.end_sample();
  other.add_rows(matrix({{4}}));
  other.end_sample();
  sum.add(other, 0.5);
  Rounding rounding = Rounding::noisy(kGradcommLane, {});

  sum.finish(rounding);

  const double expected = kU * std::sqrt((2 * (10 + 4) + 1.5 * 4 * 4) / 3);
  EXPECT_NEAR(std::abs(sum.value(0, 0) - 4), expected, 1e-12);
}

TEST(PayloadNoise, LeavesAnElementThatNoSampleTouchesExact) {
  GradientSum sum(2, 1, GradientKind::per_term, false);
  sum.watch_samples();
  sum.scatter({1}, matrix({{5}}));
  sum.end_sample();
  Rounding rounding = Rounding::noisy(kGradcommLane, {});

  sum.finish(rounding);

  EXPECT_EQ(sum.value(0, 0), 0);
  EXPECT_NE(sum.value(1, 0), 5);
}

double bfloat16(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const std::uint32_t half = 0x7FFFU + ((bits >> 16) & 1U);
  return std::bit_cast<float>((bits + half) & 0xFFFF0000U);
}

/// What 48 samples become on `ranks` x `micro_batches` contributions; `early` rounds the sum over
/// ranks after each micro-batch.
double travelled(const std::vector<double>& samples, int ranks, int micro_batches, bool early) {
  const auto part = samples.size() / static_cast<std::size_t>(ranks * micro_batches);
  double result = 0;
  std::vector<double> of_rank(static_cast<std::size_t>(ranks));
  for (int mb = 0; mb < micro_batches; ++mb) {
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto first = static_cast<std::size_t>(rank * micro_batches + mb) * part;
      double own = 0;
      for (std::size_t i = first; i < first + part; ++i) {
        own += samples[i];
      }
      of_rank[static_cast<std::size_t>(rank)] += own;
      sum += bfloat16(own);
    }
    result += early ? bfloat16(sum) : 0;
  }
  double late = 0;
  for (const double own : of_rank) {
    late += bfloat16(own);
  }
  return early ? result : bfloat16(late);
}

/// Root mean square of the error over many elements, each in its own deviation.
double ratio(double mean, int ranks, int micro_batches, bool early) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(mean, 1);
  double squares = 0;
  constexpr int kElements = 4000;
  for (int element = 0; element < kElements; ++element) {
    std::vector<double> samples(48);
    double sum = 0;
    double of_samples = 0;
    for (double& sample : samples) {
      sample = normal(random);
      sum += sample;
      of_samples += sample * sample;
    }
    const double error = travelled(samples, ranks, micro_batches, early) - sum;
    squares += error * error / (kU * kU * (2 * of_samples + 1.5 * sum * sum) / 3);
  }
  return std::sqrt(squares / kElements);
}

// The root mean square of a rounding lies between half of u/sqrt 3 and all of it, as the mantissas
// lie; S = 2 comes on top. A noise many times too large would hide what it should show.
TEST(PayloadNoise, HoldsRealRoundingsOfEveryLayoutAndIsNotManyTimesTheirSize) {
  for (const double mean : {0.0, 0.2, 5.0}) {
    for (const int ranks : {2, 3, 4}) {
      for (const int micro_batches : {1, 2, 4}) {
        for (const bool early : {false, true}) {
          const double found = ratio(mean, ranks, micro_batches, early);
          EXPECT_LT(found, 1) << mean << " dp" << ranks << " mb" << micro_batches << early;
          EXPECT_GT(found, 0.25) << mean << " dp" << ranks << " mb" << micro_batches << early;
        }
      }
    }
  }
}

TEST(PayloadNoise, ReachesGradientsAndTheirNormAndNothingBeforeThem) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::standard, 1, true, kGradcommLane}).run(0);
  EXPECT_EQ(find(output, Phase::forward, "layer0.out"), nullptr);
  const Companion* const loss = find(output, Phase::loss, "loss");
  const Companion* const gradient = find(output, Phase::grad, "layer0.mlp.up.weight");
  const Companion* const norm = find(output, Phase::scalar, "grad_norm");
  ASSERT_NE(loss, nullptr);
  ASSERT_NE(gradient, nullptr);
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(loss->total, 0);
  EXPECT_GT(norm->total, 0);
  EXPECT_EQ(gradient->samples, kReplicas);
  double squares = 0;
  for (const double value : output.records.values(Phase::grad, "layer0.mlp.up.weight")) {
    squares += value * value;
  }
  const double relative =
      std::sqrt(gradient->total * static_cast<double>(gradient->s2.size()) / squares);
  EXPECT_GT(relative, kU * std::sqrt(1.5 / 3));
  EXPECT_LT(relative, 4 * kU);
}

TEST(PayloadNoise, RunsOnThroughTheStepsOfSgd) {
  const Problem problem = three_groups(OptimizerKind::sgd);
  Training training(problem, {Level::standard, 1, true, kGradcommLane});
  const StepOutput first = training.run(0);
  const StepOutput second = training.run(1);
  EXPECT_EQ(find(first, Phase::forward, "layer0.out")->total, 0);
  EXPECT_GT(find(first, Phase::param, "layer0.mlp.up.weight")->total, 0);
  EXPECT_GT(find(second, Phase::forward, "layer0.out")->total, 0);
}

}  // namespace
}  // namespace meshparity::reference
