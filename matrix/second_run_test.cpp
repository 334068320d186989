#include "matrix/second_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Two runs of one case that dump the record x [2, 2] on one rank; the second is at level all.
class SecondRun : public testing::Test {
 protected:
  SecondRun() {
    first_.level = Level::standard;
    second_.level = Level::all;
  }
  static void fill(MadeCase& made, const std::string& record, std::vector<double> values) {
    made.add(record, {2, 2}, std::move(values));
    made.give(0, record, BoxPlacement{{{{0, 0}, {2, 2}}}});
  }
  CheckResult check() {
    return check_repeatable({first_.write().candidate, first_outcome_},
                            {second_.write().candidate, second_outcome_});
  }
  static LaunchOutcome death(const std::string& what) {
    LaunchOutcome outcome;
    outcome.finished = false;
    outcome.what = what;
    outcome.rank = 1;
    return outcome;
  }

  MadeCase first_{"gpt-tiny.single.sgd-steps1.fp64.host-threads"};
  MadeCase second_{"gpt-tiny.single.sgd-steps1.fp64.host-threads"};
  LaunchOutcome first_outcome_;
  LaunchOutcome second_outcome_;
};

TEST_F(SecondRun, TheSameBitsAreRepeatable) {
  fill(first_, "x", {1, 2, 3, 4});
  fill(second_, "x", {1, 2, 3, 4});

  const CheckResult result = check();

  EXPECT_EQ(result.check, "repeatable");
  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_EQ(result.compared, 4);
}

TEST_F(SecondRun, AnotherBitIsAFindingThatSaysWhere) {
  fill(first_, "x", {1, 2, 3, 4});
  fill(second_, "x", {1, 2, 3, 5});

  const CheckResult result = check();

  EXPECT_EQ(result.verdict, Verdict::diverges);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].check, "repeatable");
  EXPECT_THAT(result.findings[0].index, ElementsAre(1, 1));
  EXPECT_THAT(result.findings[0].text,
              AllOf(StartsWith("not repeatable: "), HasSubstr("4 against 5")));
}

TEST_F(SecondRun, ARecordOfLevelAllAloneIsNotMissed) {
  fill(first_, "x", {1, 2, 3, 4});
  fill(second_, "x", {1, 2, 3, 4});
  fill(second_, "y", {1, 2, 3, 4});

  EXPECT_EQ(check().verdict, Verdict::conforms);
}

TEST_F(SecondRun, NansAtTheSamePlacesAreRepeatable) {
  fill(first_, "x", {1, kNan, 3, 4});
  fill(second_, "x", {1, kNan, 3, 4});

  const CheckResult result = check();

  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_EQ(result.compared, 4);
}

TEST_F(SecondRun, NansDoNotHideADifferenceBehindThem) {
  fill(first_, "x", {1, kNan, 3, 4});
  fill(second_, "x", {1, kNan, 3, 5});

  EXPECT_EQ(check().verdict, Verdict::diverges);
}

TEST_F(SecondRun, ANanThatComesInTheFirstRunOnlyIsFoundBehindOneOfBoth) {
  fill(first_, "x", {kNan, kNan, 3, 4});
  fill(second_, "x", {kNan, 2, 3, 4});

  EXPECT_EQ(check().verdict, Verdict::diverges);
}

TEST_F(SecondRun, ANanInOneRunOnlyIsADifference) {
  fill(first_, "x", {1, kNan, 3, 4});
  fill(second_, "x", {1, 2, 3, 4});

  EXPECT_EQ(check().verdict, Verdict::diverges);
}

TEST_F(SecondRun, ADeathThatDoesNotComeAgainIsAFinding) {
  first_outcome_ = death("rank 1 gave up");

  const CheckResult result = check();

  EXPECT_EQ(result.verdict, Verdict::diverges);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].rank, 1);
  EXPECT_EQ(result.findings[0].text,
            "not repeatable: the first run died: rank 1 gave up; run again alone it ended");
}

TEST_F(SecondRun, ADeathInTheSecondRunAloneIsAFindingToo) {
  second_outcome_ = death("rank 1 gave up");

  EXPECT_EQ(check().verdict, Verdict::diverges);
}

TEST_F(SecondRun, ADeathThatComesAgainIsRepeatable) {
  first_outcome_ = death("rank 1 gave up");
  second_outcome_ = death("rank 0 gave up");

  const CheckResult result = check();

  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_THAT(result.notes, ElementsAre("run again alone it died: rank 0 gave up"));
}

TEST_F(SecondRun, WhatNeverBeganAndWhatCannotBeReadIsInconclusive) {
  fill(first_, "x", {1, 2, 3, 4});
  fill(second_, "x", {1, 2, 3, 4});
  second_.torn = {0};
  EXPECT_EQ(check().verdict, Verdict::inconclusive);

  second_outcome_ = death("no such program");
  second_outcome_.never_began = true;
  EXPECT_EQ(check_repeatable({}, {"", second_outcome_}).verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace meshparity
