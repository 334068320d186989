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
