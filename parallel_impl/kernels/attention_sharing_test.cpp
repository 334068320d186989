// Attention with fewer key heads than query heads, and with a sink, worked by hand.
#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/attention.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

// One sample, 4 query heads on 2 key heads, 2 tokens, 1 feature.
constexpr AttentionShape kShape = {1, 4, 2, 2, 1};
const DropoutRule<double> kNoRule = {0, 1.0};

/// q is 1 everywhere; k of token 1 less k of token 0 is ln 3 in key head 0 and ln 4 in key head 1,
/// so that query 1 has probabilities (1/4, 3/4) and (1/5, 4/5). A sink of ln 4 against scores
/// (0, ln 3) takes half of it all.
struct Problem {
  std::vector<double> q = std::vector<double>(8, 1);
  std::vector<double> k = {0, 0, std::log(3.0), std::log(4.0)};  // [2 tokens, 2 heads]
  std::vector<double> v = {8, 100, 16, 200};
  std::vector<double> sinks = {std::log(4.0), -1000, -1000, std::log(5.0)};
  std::vector<double> probs = std::vector<double>(16, 99);
  std::vector<double> sink_probs = std::vector<double>(8, 99);
  std::vector<double> context = std::vector<double>(8, 99);

  void forward(int lanes, bool with_sinks) {
    LaneTeam(lanes).run(AttentionForward<double>{
        q.data(), k.data(), v.data(), with_sinks ? sinks.data() : nullptr, nullptr, probs.data(),
        with_sinks ? sink_probs.data() : nullptr, context.data(), kShape, 1.0, kNoRule});
  }
};

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    // A score is a logarithm: exp(ln a) is a to a few ulp.
    EXPECT_NEAR(actual[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << "at " << i;
  }
}

TEST(SharedKeys, TwoQueryHeadsInARowReadTheSameKeyHead) {
  for (const int lanes : kLaneCounts) {
    Problem problem;

    problem.forward(lanes, false);

    expect_close(problem.probs,
                 {1, 0, 0.25, 0.75, 1, 0, 0.25, 0.75, 1, 0, 0.2, 0.8, 1, 0, 0.2, 0.8});
    expect_close(problem.context, {8, 8, 100, 100, 14, 14, 180, 180});  // [2 tokens, 4 heads]
  }
}

TEST(Sink, TakesItsShareOfTheDenominatorAlone) {
  for (const int lanes : kLaneCounts) {
    Problem problem;

    problem.forward(lanes, true);

    expect_close(problem.probs,
                 {0.2, 0, 0.125, 0.375, 1, 0, 0.25, 0.75, 1, 0, 0.2, 0.8, 1. / 6, 0, 0.1, 0.4});
    expect_close(problem.sink_probs, {0.8, 0.5, 0, 0, 0, 0, 5. / 6, 0.5});
    expect_close(problem.context, {1.6, 8, 100, 100. / 6, 7, 14, 180, 90});
  }
}

TEST(Sink, AboveEveryScoreOverflowsNothing) {
  Problem problem;
  problem.sinks = {800, 800, 800, 800};

  problem.forward(3, true);

  EXPECT_EQ(problem.probs[2], 0);
  EXPECT_EQ(problem.sink_probs[1], 1);
}

struct Grads {
  std::vector<double> scores = std::vector<double>(16, 99);
  std::vector<double> q = std::vector<double>(8, 99);
  std::vector<double> k = std::vector<double>(4, 99);
  std::vector<double> v = std::vector<double>(4, 99);
  std::vector<double> sinks = std::vector<double>(4, 99);
};

/// d context, [2 tokens, 4 heads]: token 1 alone, heads 0 to 3.
const std::vector<double> kDy = {0, 0, 0, 0, 1, 2, 1, 3};

Grads backward(Problem& problem, int lanes) {
  Grads grad;
  LaneTeam team(lanes);
  team.run(AttentionSinkGrad<double>{problem.sink_probs.data(), problem.context.data(), kDy.data(),
                                     grad.sinks.data(), kShape});
  LaneTeam(lanes).run(AttentionProbsGrad<double>{problem.v.data(), kDy.data(), nullptr,
                                                 grad.scores.data(), kShape, kNoRule});
  LaneTeam(lanes).run(
      AttentionBackward<double>{problem.q.data(), problem.k.data(), problem.probs.data(),
                                problem.context.data(), kDy.data(), nullptr, grad.scores.data(),
                                grad.q.data(), grad.k.data(), grad.v.data(), kShape, 1.0, kNoRule});
  return grad;
}

// Without sinks dz_1j = p_j dy (v_j - context): in heads 0 and 1 1/4 (8 - 14) = -1.5 and 1.5 times
// dy = 1, 2; in heads 2 and 3 1/5 (100 - 180) = -16 and 16 times 1, 3.
TEST(SharedKeys, GradientsOfKeysAndValuesSumOverTheirQueryHeads) {
  for (const int lanes : kLaneCounts) {
    Problem problem;
    problem.forward(lanes, false);
    problem.sink_probs.assign(8, 0);

    const Grads grad = backward(problem, lanes);

    expect_close(grad.k, {-4.5, -64, 4.5, 64});
    expect_close(grad.v, {0.75, 0.8, 2.25, 3.2});
    const double ln3 = std::log(3.0), ln4 = std::log(4.0);
    expect_close(grad.q, {0, 0, 0, 0, 1.5 * ln3, 3 * ln3, 16 * ln4, 48 * ln4});
  }
}

// With sinks: head 0 has probabilities 1/8, 3/8 and context 7, so dz = (1/8, 27/8), and of its sink
// -1/2 * 7; head 3 has 1/10, 4/10 and context 90: dz = 3 (1, 44), and of its sink -1/2 * 270.
TEST(Sink, HasTheGradientOfALogitThatNobodyReads) {
  for (const int lanes : kLaneCounts) {
    Problem problem;
    problem.forward(lanes, true);

    const Grads grad = backward(problem, lanes);

    expect_close(grad.sinks, {-3.5, 0, 0, -135});
    expect_close({grad.scores[2], grad.scores[3]}, {0.125, 3.375});
    expect_close(grad.k, {0.125 - 3, -16. + 3, 3.375 + 3, 16 + 132.});
  }
}

}  // namespace
}  // namespace meshparity
