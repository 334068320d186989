#include "matrix/checks/life_signs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

TEST(LifeSigns, ADeadRunIsInconclusiveWithTheListOfTensors) {
  MadeCase made(kSingle);
  for (const char* name : {"a", "b"}) {
    MadeRecord& record = made.add(name, {2}, {0, 0});
    record.spec.phase = Phase::grad;
    record.noise = 0;
    made.give(0, name, all_of({2}));
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("every gradient of the reference is zero: a, b"));
}

/// Two steps of which the second has no gradient, and the reference counts `tokens` there.
Verdict verdict_of_second_step(double tokens, double first_gradient) {
  MadeCase made("gpt-tiny.single.sgd-steps2.fp64.host-threads");
  for (const int step : {0, 1}) {
    MadeRecord& gradient = made.add("a", {1}, {step == 0 ? first_gradient : 0});
    gradient.spec.phase = Phase::grad;
    gradient.step = step;
    gradient.noise = 0;
    made.give(0, "a", all_of({1})).step = step;
    MadeRecord& count = made.add("token_count", {1}, {step == 0 ? 3 : tokens});
    count.spec.phase = Phase::scalar;
    count.step = step;
    count.noise = 0;
    made.give(0, "token_count", all_of({1})).step = step;
  }
  return made.judge().verdict;
}

// An empty micro-batch of an asynchronous pipeline is a step of its own.
TEST(LifeSigns, AStepWithoutTokensMayHaveNoGradient) {
  EXPECT_EQ(verdict_of_second_step(0, 1.5), Verdict::conforms);
  EXPECT_EQ(verdict_of_second_step(2, 1.5), Verdict::inconclusive);
  EXPECT_EQ(verdict_of_second_step(0, 0), Verdict::inconclusive);
}

TEST(LifeSigns, ALossThatStandsStillIsInconclusive) {
  for (const double second : {2.0, 1.5}) {
    MadeCase made("gpt-tiny.single.sgd-steps2.fp64.host-threads");
    for (const int step : {0, 1}) {
      MadeRecord& record = made.add("loss", {1}, {step == 0 ? 2.0 : second});
      record.spec.phase = Phase::loss;
      record.step = step;
      made.give(0, "loss", all_of({1})).step = step;
    }

    EXPECT_EQ(made.judge().verdict, second == 2.0 ? Verdict::inconclusive : Verdict::conforms);
  }
}

}  // namespace
}  // namespace meshparity
