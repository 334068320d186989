// Loss scaling with its skipped step, and means of means.
#include <gtest/gtest.h>

#include <cmath>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "reference/micro_case.hpp"
#include "reference/run_job.hpp"

namespace meshparity::reference {
namespace {

CaseSpec scaled(OptimizerKind optimizer) {
  CaseSpec spec = spec_of("mixed-micro");
  spec.loss_scaling = true;
  spec.optimizer = optimizer;
  spec.steps = 6;
  return spec;
}

double number(const StepOutput& output, Phase phase, const char* record) {
  return output.records.values(phase, record)[0];
}

// Good, skipped, good, good, good, good: the skip halves, each second good one after it doubles.
TEST(LossScaling, MovesTheScaleAndCountsTheStepsTaken) {
  const Problem problem = problem_of(scaled(OptimizerKind::adamw));
  Training training(problem, {Level::standard, 1, false});
  const double scales[] = {65536, 65536, 32768, 32768, 65536, 65536};
  const double counts[] = {1, 1, 2, 3, 4, 5};
  for (int step = 0; step < 6; ++step) {
    const StepOutput output = training.run(step);
    EXPECT_EQ(number(output, Phase::scalar, "loss_scale"), scales[step]) << step;
    EXPECT_EQ(number(output, Phase::scalar, "found_inf"), step == 1 ? 1 : 0) << step;
    EXPECT_EQ(number(output, Phase::exact, "step_count"), counts[step]) << step;
  }
}

TEST(LossScaling, ASkippedStepMovesNothingAndHasNoGradients) {
  for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::momentum}) {
    const Problem problem = problem_of(scaled(optimizer));
    Training training(problem, {Level::all, 2, true});
    training.run(0);
    const State before = training.state();

    const StepOutput skipped = training.run(1);

    EXPECT_EQ(training.state().parameters, before.parameters);
    EXPECT_EQ(training.state().moment1, before.moment1);
    EXPECT_EQ(training.state().moment2, before.moment2);
    EXPECT_FALSE(skipped.records.has(Phase::grad, "embed.weight"));
    EXPECT_FALSE(skipped.records.has(Phase::scalar, "grad_norm"));
    EXPECT_TRUE(std::isfinite(number(skipped, Phase::loss, "loss")));
    EXPECT_EQ(find(skipped, Phase::backward, "logits"), nullptr);
    for (const Companion& companion : skipped.companions) {
      EXPECT_TRUE(std::isfinite(companion.total)) << companion.record;
    }
  }
}

TEST(LossScaling, StepsThatAreTakenAreThoseWithoutScaling) {
  CaseSpec plain = scaled(OptimizerKind::adamw);
  plain.loss_scaling = false;
  const Problem without = problem_of(plain);
  const Problem with = problem_of(scaled(OptimizerKind::adamw));
  Training a(without, {Level::standard, 1, false});
  Training b(with, {Level::standard, 1, false});
  a.run(0);
  b.run(0);
  EXPECT_EQ(a.state().parameters, b.state().parameters);
}

TEST(LossScaling, TheScaleGoesOnFromADump) {
  const ScratchFolder folder;
  Job job;
  job.case_id = "mixed-micro.single.lscale-steps5.fp64.host-threads";
  job.out = folder.path();
  job.models = MESHPARITY_MODELS;
  run_job(job, 1);
  const DumpReader dump(folder.path() / "rank_0000.h5");
  const Problem problem = problem_of(parse_case(job.case_id));
  const auto after = [&](int step) {
    return read_state(dump, problem.network.parameters(), OptimizerKind::adamw, step).loss_scale;
  };
  EXPECT_EQ(after(0), (LossScale{65536, 1}));
  EXPECT_EQ(after(1), (LossScale{32768, 0}));
  EXPECT_EQ(after(2), (LossScale{32768, 1}));
  EXPECT_EQ(after(3), (LossScale{65536, 0}));
}

Problem means_of_means(LossMode mode, int groups) {
  CaseSpec spec = spec_of("llama-micro");
  spec.loss_mode = mode;
  spec.micro_batches = groups;
  return problem_of(spec);
}

// The last sample of four has no token: with four groups its mean is 0 and still one of four.
TEST(LossModes, TheLossIsTheMeanOfTheMeansOfTheGroups) {
  for (const LossMode mode : {LossMode::mbmean, LossMode::legacy}) {
    for (const int groups : {2, 4}) {
      const Problem problem = means_of_means(mode, groups);
      const StepOutput output = Training(problem, {Level::standard, 1, false}).run(0);
      const auto losses = output.records.values(Phase::loss, "loss.token");
      double expected = 0;
      for (int group = 0; group < groups; ++group) {
        double sum = 0;
        double tokens = 0;
        for (int sample = group * 4 / groups; sample < (group + 1) * 4 / groups; ++sample) {
          tokens += count_tokens_of_sample(problem.model(), problem.inputs, 0, sample);
          for (int p = 0; p < 5; ++p) {
            sum += losses[static_cast<std::size_t>(sample * 5 + p)];
          }
        }
        expected += tokens > 0 ? sum / tokens / groups : 0;
      }
      const double loss = number(output, Phase::loss, "loss");
      EXPECT_LE(std::abs(loss - expected), 8 * 0x1p-53 * expected) << groups;
    }
  }
}

/// The loss of a step as a function of the head's first weight.
double loss_at(const Problem& problem, double move) {
  State state = initial_state(problem.network.parameters(), 1);
  state.parameters.back()(3, 2) += move;
  return number(Training(problem, {Level::standard, 1, false}, {state, {}}).run(0), Phase::loss,
                "loss");
}

// By five points as in gradient_test.
TEST(LossModes, GradientsAreThoseOfTheLoss) {
  constexpr double h = 1e-3;
  for (const int groups : {1, 2, 4}) {
    const Problem problem = means_of_means(LossMode::mbmean, groups);
    const StepOutput output = Training(problem, {Level::standard, 1, false}).run(0);
    const double slope = (8 * (loss_at(problem, h) - loss_at(problem, -h)) -
                          (loss_at(problem, 2 * h) - loss_at(problem, -2 * h))) /
                         (12 * h);
    const auto gradient = output.records.values(Phase::grad, "head.weight");
    EXPECT_LE(std::abs(slope - gradient[3 * 8 + 2]), 1e-9) << groups;
    EXPECT_GT(std::abs(slope), 1e-4);
  }
}

// The mean over all tokens and the mean of two means differ where their tokens do; in one group
// they agree.
TEST(LossModes, DifferFromTheMeanOverTokens) {
  const auto loss = [](const Problem& problem) {
    return number(Training(problem, {Level::standard, 1, false}).run(0), Phase::loss, "loss");
  };
  const double plain = loss(means_of_means(LossMode::tokenmean, 2));
  EXPECT_NE(loss(means_of_means(LossMode::mbmean, 2)), plain);
  EXPECT_LE(std::abs(loss(means_of_means(LossMode::mbmean, 1)) - plain), 8 * 0x1p-53 * plain);
}

TEST(LossModes, GroupsThatDoNotDivideTheBatchAreRefused) {
  EXPECT_NE(message_of<UsageError>([] { means_of_means(LossMode::mbmean, 3); }).find("divide"),
            std::string::npos);
}

}  // namespace
}  // namespace meshparity::reference
