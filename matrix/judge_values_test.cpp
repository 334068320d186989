// AdamW's later steps against rebased ones, laws, and what is said where either is missing.
#include "matrix/judge_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fixtures/error.hpp"
#include "matrix/made_rebased.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kAdamw = "gpt-tiny.single.steps2.fp64.host-threads";
constexpr const char* kSgd = "gpt-tiny.single.sgd-steps2.fp64.host-threads";

/// A parameter after step 0, and a gradient of step 1 that has gone another way than the reference.
class TwoSteps {
 public:
  explicit TwoSteps(const std::string& id, std::vector<double> param = {1, 2})
      : made(id), rebased(made) {
    add("w", Phase::param, 0, {1, 2}, std::move(param));
    add("g", Phase::grad, 1, {4, 5}, {40, 50});
  }

  void add(const std::string& name, Phase phase, int step, const std::vector<double>& reference,
           std::vector<double> candidate) {
    MadeRecord& record = made.add(name, {std::ssize(reference)}, reference);
    record.spec.phase = phase;
    record.spec.level = record_level;
    record.step = step;
    MadePiece& piece = made.give(0, name, whole(record.spec.shape));
    piece.step = step;
    piece.values = std::move(candidate);
  }
  CaseReport judge() {
    Evidence evidence = made.write();
    evidence.rebased = rebased.finish();
    return meshparity::judge(evidence);
  }

  MadeCase made;
  MadeRebased rebased;
  Level record_level = Level::standard;
};

TEST(JudgeValues, AdamwIsComparedWithTheStepThatBeganWithItsOwnState) {
  TwoSteps right(kAdamw);
  right.rebased.record(1, Phase::grad, "g", {40, 50}).law(0, Phase::param, "w", {{1, 2}, {0, 0}});
  TwoSteps wrong(kAdamw);
  wrong.rebased.record(1, Phase::grad, "g", {40, 50.001})
      .law(0, Phase::param, "w", {{1, 2}, {0, 0}});

  const CaseReport report = right.judge();
  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_EQ(result_of(report, "grad").compared, 2);
  EXPECT_THAT(result_of(report, "grad").notes, IsEmpty());
  const CaseReport harmed = wrong.judge();
  EXPECT_EQ(cause_of(harmed).record, "g");
  EXPECT_EQ(cause_of(harmed).step, 1);
  EXPECT_EQ(cause_of(harmed).reference, 50.001);
}

TEST(JudgeValues, SgdRunsFreeWhateverARebasedReferenceHolds) {
  TwoSteps made(kSgd);
  made.rebased.record(1, Phase::grad, "g", {40, 50}).law(0, Phase::param, "w", {{1, 2}, {0, 0}});

  EXPECT_EQ(cause_of(made.judge()).record, "g");
}

TEST(JudgeValues, AnUpdateIsJudgedByItsLawWithPlaceValuesAndLimit) {
  TwoSteps made(kAdamw, {1.25, 2.5});
  made.rebased.record(1, Phase::grad, "g", {40, 50})
      .law(0, Phase::param, "w", {{1, 2}, {0.125, 0.125}});

  const CaseReport report = made.judge();

  const Finding finding = cause_of(report);
  EXPECT_EQ(finding.check, "step");
  EXPECT_EQ(finding.record, "w");
  EXPECT_EQ(finding.phase, Phase::param);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(finding.rank, 0);
  EXPECT_EQ(finding.reference, 2);
  EXPECT_EQ(finding.candidate, 2.5);
  EXPECT_EQ(finding.limit, 0.125);
  EXPECT_EQ(finding.ratio, 4);
  EXPECT_EQ(finding.derivation, "law made: 2 u |x|");
  EXPECT_EQ(finding.text, "law made: error 0.5, limit 0.125 (4 x over); 2 of 2 elements over");
  ASSERT_EQ(result_of(report, "step").margins.size(), 1u);
  EXPECT_EQ(result_of(report, "step").margins[0].statistic, 'L');
  EXPECT_EQ(result_of(report, "step").margins[0].margin, 4);
  EXPECT_EQ(result_of(report, "step").margins[0].sees, 0.0625);
}

TEST(JudgeValues, ALimitIsAttainedAndStillKept) {
  for (const double last : {2.125, 2.1250000000000004}) {
    TwoSteps made(kAdamw, {1, last});
    made.rebased.record(1, Phase::grad, "g", {40, 50})
        .law(0, Phase::param, "w", {{1, 2}, {0, 0.125}});

    const CaseReport report = made.judge();

    EXPECT_EQ(report.verdict, last == 2.125 ? Verdict::conforms : Verdict::diverges);
    EXPECT_THAT(result_of(report, "step").notes, IsEmpty());  // no near miss
  }
}

TEST(JudgeValues, WhatIsExactIsDemandedExactly) {
  TwoSteps made(kAdamw, {1, 2.0000000000000004});
  made.rebased.record(1, Phase::grad, "g", {40, 50}).law(0, Phase::param, "w", {{1, 2}, {0, 0}});

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::diverges);
  EXPECT_EQ(cause_of(report).ratio, std::numeric_limits<double>::infinity());
}

TEST(JudgeValues, ANanBreaksALaw) {
  TwoSteps made(kAdamw, {1, kNan});
  made.rebased.record(1, Phase::grad, "g", {40, 50}).law(0, Phase::param, "w", {{1, 2}, {1, 1}});

  EXPECT_EQ(made.judge().verdict, Verdict::diverges);
}

TEST(JudgeValues, ALawThatIsNotFiniteDecidesNothing) {
  for (const LawValues& values :
       {LawValues{{1, kNan}, {1, 1}}, LawValues{{1, 2}, {1, kNan}},
        LawValues{{1, 2}, {1, std::numeric_limits<double>::infinity()}}}) {
    TwoSteps made(kAdamw);
    made.rebased.record(1, Phase::grad, "g", {40, 50}).law(0, Phase::param, "w", values);

    const CaseReport report = made.judge();

    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_THAT(cause_of(report).text, HasSubstr("decides nothing"));
  }
}

TEST(JudgeValues, AMissingInputIsInconclusive) {
  TwoSteps made(kAdamw);
  made.rebased.record(1, Phase::grad, "g", {40, 50}).undecided(0, Phase::param, "w");

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(cause_of(report).text,
            "law made: the candidate's dump lacks grad w of step 0: param w step 0");
}

TEST(JudgeValues, ARecordThatNoLawSpeaksOfIsInconclusive) {
  TwoSteps made(kSgd);
  made.rebased.record(1, Phase::grad, "g", {40, 50});

  EXPECT_THAT(findings_text(made.judge()), HasSubstr("the rebased reference holds no law of it"));
}

TEST(JudgeValues, AStepThatCouldNotBeginIsInconclusive) {
  TwoSteps made(kAdamw);
  made.rebased.law(0, Phase::param, "w", {{1, 2}, {0, 0}});

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(cause_of(report).text, HasSubstr("state after the step before is not whole"));
  EXPECT_EQ(cause_of(report).check, "grad");
}

TEST(JudgeValues, AFailureToRebaseIsInconclusiveWithItsReason) {
  TwoSteps made(kAdamw);
  Evidence evidence = made.made.write();
  evidence.not_rebased = "the program fell";
  evidence.not_rebased_gravity = Verdict::inconclusive;

  const CaseReport report = judge(evidence);

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("grad g: not compared with a rebased step or by a "
                                               "law: the program fell"));
  EXPECT_THAT(findings_text(report), HasSubstr("step w: not compared with"));
}

TEST(JudgeValues, LawsAreNotAskedBelowStandard) {
  TwoSteps made(kSgd);
  made.made.level = Level::final;
  made.record_level = Level::final;
  made.add("loss", Phase::loss, 0, {3}, {3});

  const CaseReport report = made.judge();

  EXPECT_THAT(result_of(report, "loss").notes, Contains(HasSubstr("not asked at this level")));
}

TEST(JudgeValues, ScalarsAreJudgedByNoiseAndByLaw) {
  TwoSteps made(kAdamw);
  made.add("grad_norm", Phase::scalar, 0, {3}, {3});
  made.add("loss", Phase::loss, 0, {7}, {7});
  made.rebased.record(1, Phase::grad, "g", {40, 50})
      .law(0, Phase::param, "w", {{1, 2}, {0, 0}})
      .law(0, Phase::scalar, "grad_norm", {{3.5}, {0.25}})
      .law(0, Phase::loss, "loss", {{7}, {0}});

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "scalar").compared, 2);
  EXPECT_EQ(result_of(report, "loss").compared, 2);
  EXPECT_EQ(result_of(report, "loss").verdict, Verdict::conforms);
  EXPECT_EQ(cause_of(report).record, "grad_norm");
  EXPECT_EQ(cause_of(report).ratio, 2);
}

// Operations of the forward pass, and sums over ranks: beside the noise, which here sees nothing.
TEST(JudgeValues, ForwardRecordsAndGradientsAreUnderTheLawsThatSpeakOfThem) {
  for (const Phase phase : {Phase::forward, Phase::grad}) {
    TwoSteps made(kAdamw);
    made.add("y", phase, 0, {3, 4}, {3, 4});
    made.rebased.record(1, Phase::grad, "g", {40, 50})
        .law(0, Phase::param, "w", {{1, 2}, {0, 0}})
        .law(0, phase, "y", {{3, 4.5}, {0, 0.25}});

    const CaseReport report = made.judge();

    EXPECT_EQ(cause_of(report).record, "y");
    EXPECT_EQ(cause_of(report).ratio, 2);
  }
}

TEST(JudgeValues, ARebasedReferenceOfAnotherCaseIsRefused) {
  TwoSteps made(kAdamw);
  const MadeCase other(kSgd);
  MadeRebased foreign(other);
  Evidence evidence = made.made.write();
  evidence.rebased = foreign.finish();

  EXPECT_THROW(judge(evidence), UsageError);
}

}  // namespace
}  // namespace meshparity
