#include "parallel_impl/kernels/attention.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

constexpr AttentionShape kShape = {2, 2, 2, 3, 2};  // 2 samples, 2 heads, 3 tokens, 2 features
constexpr int kFeatures = 2 * 3 * 2 * 2;
constexpr int kPairs = 2 * 2 * 3 * 3;
const DropoutRule<double> kRule = {100, 0.5};

/// Feature 0 of q is 1 and of k is ln a_j, so with scale 1 the probability of key j is a_j over the
/// sum of the seen ones. a is 1, 3, 4 in head 0 and 1, 1, 2 in head 1; v tells token, head, sample.
struct Problem {
  std::vector<double> q = std::vector<double>(kFeatures);
  std::vector<double> k = std::vector<double>(kFeatures);
  std::vector<double> v = std::vector<double>(kFeatures);
  std::vector<unsigned> words = std::vector<unsigned>(kPairs, 100);
  std::vector<double> probs = std::vector<double>(kPairs, 99);
  std::vector<double> context = std::vector<double>(kFeatures, 99);

  Problem() {
    const double a[2][3] = {{1, 3, 4}, {1, 1, 2}};
    for (int sample = 0; sample < 2; ++sample) {
      for (int token = 0; token < 3; ++token) {
        for (int head = 0; head < 2; ++head) {
          const auto at = static_cast<std::size_t>(((sample * 3 + token) * 2 + head) * 2);
          q[at] = 1;
          k[at] = std::log(a[head][token]);
          v[at] = 8 * (token + 1);
          v[at + 1] = 1000 * sample + 100 * head + token;
        }
      }
    }
  }

  void forward(int lanes, bool dropout) {
    LaneTeam(lanes).run(AttentionForward<double>{q.data(), k.data(), v.data(), nullptr,
                                                 dropout ? words.data() : nullptr, probs.data(),
                                                 nullptr, context.data(), kShape, 1.0, kRule});
  }
};

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_DOUBLE_EQ(actual[i], expected[i]) << "at " << i;
  }
}

TEST(Attention, ProbabilitiesOfBothHeadsWorkedByHand) {
  const std::vector<double> head0 = {1, 0, 0, 0.25, 0.75, 0, 0.125, 0.375, 0.5};
  const std::vector<double> head1 = {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5};
  std::vector<double> expected;
  for (int sample = 0; sample < 2; ++sample) {
    expected.insert(expected.end(), head0.begin(), head0.end());
    expected.insert(expected.end(), head1.begin(), head1.end());
  }
  for (const int lanes : kLaneCounts) {
    Problem problem;

    problem.forward(lanes, false);

    expect_close(problem.probs, expected);
  }
}

TEST(Attention, ContextAveragesTheValuesThatAreSeen) {
  for (const int lanes : kLaneCounts) {
    Problem problem;

    problem.forward(lanes, false);

    expect_close(problem.context, {8,  0,        8,  100,    14, 0.75,    12, 100.5,   //
                                   19, 1.375,    18, 101.25,                           //
                                   8,  1000,     8,  1100,   14, 1000.75, 12, 1100.5,  //
                                   19, 1001.375, 18, 1101.25});
  }
}

TEST(Attention, DropoutFallsOnProbabilitiesAfterTheSoftmax) {
  Problem problem;
  problem.words[7] = 99;  // sample 0, head 0, query 2, key 1

  problem.forward(3, true);

  EXPECT_DOUBLE_EQ(problem.probs[7], 0.375);
  EXPECT_DOUBLE_EQ(problem.context[8], (1 + 12) / 0.5);  // 1/8 * 8 + 1/2 * 24, kept ones doubled
  EXPECT_DOUBLE_EQ(problem.context[9], 1 / 0.5);
}

/// Sum over i of weight_i * context_i, the weights irregular.
double weighed(Problem& problem) {
  problem.forward(1, true);
  double sum = 0;
  for (std::size_t i = 0; i < problem.context.size(); ++i) {
    sum += static_cast<double>(i * 7 % 5) * problem.context[i];
  }
  return sum;
}

struct BackwardResult {
  std::vector<double> probs = std::vector<double>(kPairs, 99);
  std::vector<double> q = std::vector<double>(kFeatures, 99);
  std::vector<double> k = std::vector<double>(kFeatures, 99);
  std::vector<double> v = std::vector<double>(kFeatures, 99);
};

BackwardResult backward(Problem& problem, int lanes) {
  weighed(problem);
  std::vector<double> weights(kFeatures);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<double>(i * 7 % 5);
  }
  BackwardResult grad;
  LaneTeam(lanes).run(AttentionProbsGrad<double>{
      problem.v.data(), weights.data(), problem.words.data(), grad.probs.data(), kShape, kRule});
  std::vector<double> scores = grad.probs;
  LaneTeam(lanes).run(AttentionBackward<double>{
      problem.q.data(), problem.k.data(), problem.probs.data(), problem.context.data(),
      weights.data(), problem.words.data(), scores.data(), grad.q.data(), grad.k.data(),
      grad.v.data(), kShape, 1.0, kRule});
  return grad;
}

Problem dropped_problem() {
  Problem problem;
  problem.words[7] = 99;
  problem.words[13] = 0;
  for (std::size_t i = 1; i < problem.q.size(); i += 2) {
    problem.q[i] = 0.25 * static_cast<double>(i % 3);
    problem.k[i] = 0.5 - 0.25 * static_cast<double>(i % 4);
    problem.v[i] *= 0.01;
  }
  return problem;
}

/// Central differences with step 2^-17: the third derivative times step^2 / 6 and rounding of sums
/// of about 1e3 over the step both stay below 1e-7 here.
void expect_slopes(std::vector<double> Problem::*input, const std::vector<double>& grad) {
  Problem problem = dropped_problem();
  constexpr double kStep = 0x1p-17;
  for (std::size_t i = 0; i < grad.size(); ++i) {
    const double at = (problem.*input)[i];
    (problem.*input)[i] = at + kStep;
    const double above = weighed(problem);
    (problem.*input)[i] = at - kStep;
    const double below = weighed(problem);
    (problem.*input)[i] = at;
    EXPECT_NEAR(grad[i], (above - below) / (2 * kStep), 1e-7) << "at " << i;
  }
}

TEST(Attention, BackwardIsTheSlopeOfForward) {
  for (const int lanes : kLaneCounts) {
    Problem problem = dropped_problem();

    const BackwardResult grad = backward(problem, lanes);

    expect_slopes(&Problem::q, grad.q);
    expect_slopes(&Problem::k, grad.k);
    expect_slopes(&Problem::v, grad.v);
  }
}

TEST(Attention, GradientOfProbabilitiesIsZeroWhereDroppedOrUnseen) {
  Problem problem = dropped_problem();

  const BackwardResult grad = backward(problem, 3);

  EXPECT_EQ(grad.probs[7], 0);
  EXPECT_EQ(grad.probs[1], 0);
  // Sample 0, head 0, query 2, key 0: weights 56 % 5 and 63 % 5 on v (8, 0), kept and doubled.
  EXPECT_DOUBLE_EQ(grad.probs[6], 2 * (1 * problem.v[0] + 3 * problem.v[1]));
}

}  // namespace
}  // namespace meshparity
