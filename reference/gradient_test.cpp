// Every hand-written gradient against finite differences of the loss sum, dropout on with frozen
// words, label smoothing and ragged masks on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fixtures/random_words.hpp"
#include "reference/micro_case.hpp"
#include "reference/state.hpp"

namespace meshparity::reference {
namespace {

/// The sum of w_i loss_i over some samples of step 0 as a function of the weights.
class LossSum {
 public:
  LossSum(const Problem& problem, int samples) : problem_(problem), work_(problem.model()) {
    for (int index = 0; index < samples; ++index) {
      samples_.push_back(make_sample(problem.model(), problem.inputs, problem.dropout(0), index));
    }
  }

  double operator()(const Weights& weights) {
    Rounding exact = Rounding::exact();
    double loss = 0;
    for (const Sample& sample : samples_) {
      problem_.network.forward(weights, sample, exact, work_);
      loss += work_.values.loss_token.sum();
    }
    return loss;
  }

  std::vector<GradientSum> gradient(const Weights& weights) {
    Rounding exact = Rounding::exact();
    std::vector<GradientSum> sums = problem_.network.gradient_sums(false);
    for (const Sample& sample : samples_) {
      problem_.network.forward(weights, sample, exact, work_);
      problem_.network.backward(weights, sample, exact, work_, sums);
    }
    return sums;
  }

 private:
  const Problem& problem_;
  SampleWork work_;
  std::vector<Sample> samples_;
};

/// Derivative at 0 of f by five points: error h^4 f^(5)/30 and about 1e-16 f/h.
template <class Function>
double derivative(const Function& f) {
  constexpr double h = 1e-3;
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

double element_derivative(LossSum& loss, Weights& weights, std::size_t parameter,
                          Eigen::Index element) {
  double& value = weights[parameter].value.data()[element];
  const double before = value;
  const double slope = derivative([&](double h) {
    value = before + h;
    return loss(weights);
  });
  value = before;
  return slope;
}

double largest(const std::vector<GradientSum>& gradients) {
  double size = 0;
  for (const GradientSum& gradient : gradients) {
    size = std::max(size, gradient.value.cwiseAbs().maxCoeff());
  }
  return size;
}

// Limit: 1e-7 of the parameter's largest gradient. The gradient of a key bias is zero in theory
// and measured against the largest of all.
class MicroGradient : public testing::TestWithParam<const char*> {};
class TinyGradient : public testing::TestWithParam<const char*> {};
std::string test_name(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, MicroGradient,
                         testing::Values("gpt-micro", "llama-micro", "mixed-micro"), test_name);
INSTANTIATE_TEST_SUITE_P(Models, TinyGradient,
                         testing::Values("gpt-tiny", "llama-tiny", "mixed-tiny"), test_name);

/// Zero in exact arithmetic: a key bias adds one number to all scores of a query, unless rope turns
/// it.
bool vanishes(const Problem& problem, const std::string& parameter) {
  return parameter.ends_with("attn.k.bias") && problem.model().positions == Positions::learned;
}

TEST_P(MicroGradient, MatchesFiniteDifferencesInEveryElement) {
  const Problem problem = problem_of(spec_of(GetParam()));
  LossSum loss(problem, problem.model().global_batch);
  Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
  const std::vector<GradientSum> gradients = loss.gradient(weights);
  const double overall = largest(gradients);

  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Matrix& gradient = gradients[i].value;
    const std::string& name = problem.network.parameters()[i].name;
    const double size = gradient.cwiseAbs().maxCoeff();
    const double scale = vanishes(problem, name) ? overall : size;
    EXPECT_EQ(vanishes(problem, name), !(size > 1e-10 * overall)) << name;
    for (Eigen::Index j = 0; j < gradient.size(); ++j) {
      const double slope = element_derivative(loss, weights, i, j);
      EXPECT_LE(std::abs(slope - gradient.data()[j]), 1e-7 * scale)
          << name << " element " << j << ": " << gradient.data()[j] << " by hand, " << slope
          << " by differences";
    }
  }
}

/// Word-driven choices: deterministic, unlike in each run of the loop.
std::uint32_t choice(std::uint64_t element) {
  return WordStream{99, 0, 0, WordOp::initial_value}.word(element);
}

TEST_P(TinyGradient, MatchesFiniteDifferencesInRandomElements) {
  const Problem problem = problem_of(spec_of(GetParam()));
  LossSum loss(problem, 2);
  Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
  const std::vector<GradientSum> gradients = loss.gradient(weights);
  const double overall = largest(gradients);

  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const std::size_t i = choice(2 * trial) % gradients.size();
    const Matrix& gradient = gradients[i].value;
    const auto j = static_cast<Eigen::Index>(choice(2 * trial + 1) %
                                             static_cast<std::uint32_t>(gradient.size()));
    const double slope = element_derivative(loss, weights, i, j);
    const double size = gradient.cwiseAbs().maxCoeff();
    const std::string& name = problem.network.parameters()[i].name;
    const double scale = vanishes(problem, name) ? overall : size;
    EXPECT_LE(std::abs(slope - gradient.data()[j]), 1e-7 * scale) << name << " element " << j;
  }
}

/// weights + h * direction, the direction drawn from words of `trial`.
void move_along(const Weights& from, std::uint64_t trial, double h, Weights& to) {
  std::uint64_t element = trial << 32;
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (Eigen::Index j = 0; j < from[i].value.size(); ++j) {
      const double direction = choice(element++) * 0x1p-31 - 1;
      to[i].value.data()[j] = from[i].value.data()[j] + h * direction;
    }
  }
}

// Along a direction with 10^5 elements the loss bends sooner, so the step is 100 times smaller;
// rounding is then 1e-16 loss/h = 1e-9 of a derivative of order one.
TEST_P(TinyGradient, MatchesFiniteDifferencesInRandomDirections) {
  const Problem problem = problem_of(spec_of(GetParam()));
  LossSum loss(problem, 2);
  const Weights start = make_weights(initial_state(problem.network.parameters(), 1));
  const std::vector<GradientSum> gradients = loss.gradient(start);
  Weights moved = start;

  for (std::uint64_t trial = 1; trial <= 20; ++trial) {
    const double slope = 100 * derivative([&](double h) {
                           move_along(start, trial, h / 100, moved);
                           return loss(moved);
                         });
    move_along(start, trial, 1, moved);
    double expected = 0;
    double squares = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const auto direction = (moved[i].value - start[i].value).array();
      expected += (gradients[i].value.array() * direction).sum();
      squares += gradients[i].value.squaredNorm() / 3;
    }
    EXPECT_LE(std::abs(slope - expected), 1e-7 * std::sqrt(squares)) << "direction " << trial;
  }
}

}  // namespace
}  // namespace meshparity::reference
