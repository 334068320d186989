#include "reference/constants.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "reference/micro_case.hpp"
#include "reference/rounding.hpp"
#include "reference/whole_margin.hpp"

namespace meshparity::reference {
namespace {

constexpr double kU = 0x1p-24;

double error_of(const Rounding& rounding, Constant name, double value, std::uint64_t element = 0) {
  return (rounding.constant(name, value, element) - value) / (value * kU);
}

TEST(Constants, ErrWithinUAndByRootOneThirdOfItOnAverage) {
  double squares = 0;
  double largest = 0;
  for (int replica = 0; replica < 1000; ++replica) {
    const Rounding rounding = Rounding::noisy(kFp32Lane, {replica, 0, 0});
    const double error = error_of(rounding, Constant::label_share, 0.9);
    squares += error * error / 1000;
    largest = std::max(largest, std::abs(error));
  }
  EXPECT_NEAR(squares, 1.0 / 3, 0.03);  // three deviations of the mean of 1000
  EXPECT_LE(largest, 1 + 1e-6);
  EXPECT_GE(largest, 0.99);
}

TEST(Constants, AreTheSameInAllStepsAndSamplesOfAReplica) {
  const double first = Rounding::noisy(kBf16Lane, {5, 0, 0}).constant(Constant::root_two, 1.1);
  for (const int sample : {0, 3, kWholeStep, kWeights}) {
    EXPECT_EQ(Rounding::noisy(kBf16Lane, {5, 2, sample}).constant(Constant::root_two, 1.1), first);
  }
}

TEST(Constants, OfOtherNamesElementsAndReplicasErrOtherwise) {
  const Rounding rounding = Rounding::noisy(kFp32Lane, {5, 0, 0});
  std::set<double> errors = {
      error_of(Rounding::noisy(kFp32Lane, {6, 0, 0}), Constant::rope_sine, 0.3)};
  for (const Constant name : {Constant::rope_sine, Constant::rope_cosine, Constant::score_scale}) {
    for (const std::uint64_t element : {0U, 1U, 2U}) {
      errors.insert(error_of(rounding, name, 0.3, element));
    }
  }
  EXPECT_EQ(errors.size(), 10u);
}

TEST(Constants, ThatFloat32HoldsStay) {
  const Rounding rounding = Rounding::noisy(kFp32Lane, {5, 0, 0});
  EXPECT_EQ(rounding.constant(Constant::score_scale, 0.25), 0.25);
  EXPECT_EQ(rounding.divisor(Constant::mean_count, 64), 64);
  EXPECT_NE(rounding.divisor(Constant::mean_count, 24), 24);  // 1/24 has no end
}

TEST(Constants, AreExactInAnExactRunAndFloatsInARoundedOne) {
  EXPECT_EQ(Rounding::exact().constant(Constant::label_share, 0.9), 0.9);
  EXPECT_EQ(Rounding::exact().divisor(Constant::mean_count, 24), 24);
  EXPECT_EQ(Rounding::nearest(kFp32Lane).constant(Constant::label_share, 0.9), 0.9F);
  EXPECT_EQ(Rounding::nearest(kFp32Lane).divisor(Constant::mean_count, 24), 24);
}

/// Backward of the logits, of all samples, by a run that errs in 1 - s alone.
std::vector<double> logit_gradients(const Problem& problem, const StepOutput& reference,
                                    double error) {
  const auto exact = reference.records.values(Phase::backward, "logits");
  std::vector<double> values(exact.begin(), exact.end());
  const ModelSpec& model = problem.model();
  const auto classes = static_cast<std::size_t>(model.vocabulary);
  for (int i = 0; i < model.global_batch; ++i) {
    const Sample sample = make_sample(model, problem.inputs, problem.dropout(0), i);
    for (int p = 0; p < model.sequence; ++p) {
      const auto row = static_cast<std::size_t>(i * model.sequence + p);
      const auto label = static_cast<std::size_t>(sample.labels[static_cast<std::size_t>(p)]);
      values[row * classes + label] -= sample.weights[p] * (1 - model.smoothing) * error;
    }
  }
  return values;
}

// The error of one rounding belongs to every lane of floats; eight of them are a wrong constant.
TEST(Constants, OffByOneRoundingPassAndByEightAreFlagged) {
  const Problem problem = problem_of(spec_of("gpt-tiny"));
  const StepOutput reference = Training(problem, {Level::standard, 2, true}).run(0);
  const Companion* const companion = find(reference, Phase::backward, "logits");
  ASSERT_NE(companion, nullptr);
  const auto margin = [&](double error) {
    return whole_margin(logit_gradients(problem, reference, error),
                        reference.records.values(Phase::backward, "logits"), *companion);
  };
  EXPECT_LT(companion->effective, 100);  // a common error leaves few independent directions
  EXPECT_LE(margin(kU), 0.5);
  EXPECT_GT(margin(8 * kU), 1);
}

}  // namespace
}  // namespace meshparity::reference
