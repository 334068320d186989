#include "matrix/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fixtures/error.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";
constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";
const double kNan = std::numeric_limits<double>::quiet_NaN();

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

/// One record of four numbers, held by both tensor ranks; rank 0's values as given.
CaseReport judged(std::vector<double> candidate, double noise = 1e-8) {
  MadeCase made(kTp2);
  made.add("x", {4}, {1, 2, 3, 4}).noise = noise;
  made.give(0, "x", all_of({4}), "tp").values = candidate;
  made.give(1, "x", all_of({4}), "tp").values = candidate;
  return made.judge();
}

TEST(Judge, ACleanCaseConformsWithItsMarginsShown) {
  const CaseReport report = judged({1, 2, 3, 4 + 1e-17 * 4});

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  ASSERT_EQ(report.checks.size(), kCheckNames.size());
  const CheckResult& forward = result_of(report, "forward");
  ASSERT_EQ(forward.margins.size(), 1u);
  EXPECT_EQ(forward.margins[0].record, "x");
  EXPECT_GT(forward.margins[0].sees, 0);
  EXPECT_EQ(forward.compared, 4);
  EXPECT_FALSE(result_of(report, "grad").evidence);
}

TEST(Judge, NoCompanionsAreInconclusive) {
  MadeCase made(kSingle);
  made.add("x", {1}, {1});
  made.give(0, "x", all_of({1}));
  made.with_companions = false;

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("no limits: the reference has no companions"));
}

TEST(Judge, CompanionsOfAnotherLaneAreInconclusive) {
  MadeCase made("gpt-tiny.single.sgd-steps1.bf16.host-threads");
  made.add("x", {1}, {1});
  made.give(0, "x", all_of({1}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report),
              HasSubstr("the companions are of lane fp32, bf16 needs those of bf16"));
}

TEST(Judge, AMissingCompanionIsInconclusiveAtStandardAndANoteAtLevelAll) {
  for (const Level level : {Level::standard, Level::all}) {
    MadeCase made(kSingle);
    made.level = level;
    made.add("x", {1}, {1});
    MadeRecord& record = made.add("y", {1}, {1});
    record.spec.level = level;
    record.companion = false;
    made.give(0, "x", all_of({1}));
    made.give(0, "y", all_of({1}));

    const CaseReport report = made.judge();

    if (level == Level::all) {
      EXPECT_EQ(report.verdict, Verdict::conforms);
      EXPECT_THAT(result_of(report, "forward").notes, Contains(HasSubstr("companions lack it")));
    } else {
      EXPECT_EQ(report.verdict, Verdict::inconclusive);
    }
  }
}

// Two steps of one gradient, one parameter and the scalar that depends on the data alone.
CaseReport judged_in_two_steps(const std::string& optimizer, double later_error) {
  MadeCase made("gpt-tiny.single." + optimizer + "steps2.fp64.host-threads");
  for (const int step : {0, 1}) {
    for (const Phase phase : {Phase::grad, Phase::param, Phase::scalar}) {
      const std::string name = phase == Phase::scalar ? "token_count"
                               : phase == Phase::grad ? "w"
                                                      : "p";
      MadeRecord& record = made.add(name, {1}, {1});
      record.spec.phase = phase;
      record.step = step;
      MadePiece& piece = made.give(0, name, all_of({1}));
      piece.step = step;
      piece.values = {{step == 1 && phase != Phase::scalar ? 1 + later_error : 1}};
    }
  }
  return made.judge();
}

TEST(Judge, FreeRunningAdamwIsNotComparedAndSaysSo) {
  const CaseReport report = judged_in_two_steps("", 0.5);

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_EQ(result_of(report, "grad").compared, 1);
  EXPECT_EQ(result_of(report, "scalar").compared, 2);
  EXPECT_THAT(result_of(report, "grad").notes,
              Contains("not compared with a rebased step or by a law: the reference was not "
                       "restarted from the candidate's states: grad w step 1"));
  EXPECT_THAT(result_of(report, "step").notes, Contains(HasSubstr("2 records")));
}

TEST(Judge, EveryStepOfSgdIsCompared) {
  const CaseReport clean = judged_in_two_steps("sgd-", 0);
  const CaseReport wrong = judged_in_two_steps("sgd-", 1e-6);

  EXPECT_EQ(clean.verdict, Verdict::conforms);
  EXPECT_EQ(result_of(clean, "step").compared, 2);
  EXPECT_EQ(wrong.verdict, Verdict::diverges);
  EXPECT_EQ(cause_of(wrong).step, 1);
  EXPECT_EQ(cause_of(wrong).check, "grad");
}

TEST(Judge, ANanInAStepThatIsNotComparedStillDiverges) {
  EXPECT_EQ(judged_in_two_steps("", kNan).verdict, Verdict::diverges);
}

TEST(Judge, AReferenceWithNothingToCompareIsInconclusive) {
  MadeCase made("gpt-tiny.single.steps1.fp64.host-threads");
  made.add("w", {1}, {1}).spec.phase = Phase::param;
  made.give(0, "w", all_of({1}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("no value of any record was compared"));
}

TEST(Judge, UnlikeDumpsAreRefusedInOneLine) {
  const auto message_of = [](MadeCase& made) {
    made.add("x", {1}, {1});
    made.give(0, "x", all_of({1}));
    try {
      made.judge();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  MadeCase other_key(kSingle);
  other_key.reference_id = "gpt-tiny.single.momentum-steps1.fp64.host-threads";
  MadeCase other_case(kSingle);
  other_case.edit_header = [](int, DumpHeader& header) {
    header.case_id = "gpt-tiny.single.sgd-steps2.fp64.host-threads";
  };
  MadeCase low_level(kSingle);
  low_level.reference_level = Level::final;

  EXPECT_THAT(message_of(other_key), HasSubstr("momentum"));
  EXPECT_THAT(message_of(other_case), HasSubstr("rank_0000.h5 of the candidate's dump is of case"));
  EXPECT_THAT(message_of(low_level), HasSubstr("level final, the case asks for standard"));
}

}  // namespace
}  // namespace meshparity
