#include "matrix/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fixtures/board.hpp"
#include "fixtures/error.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";
constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";
const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

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

TEST(Judge, TwoCopiesThatDifferAreNamedWithTheirRanksAndValues) {
  MadeCase made(kTp2);
  made.add("x", {2, 2}, {1, 2, 3, 4});
  made.give(0, "x", all_of({2, 2}), "tp");
  made.give(1, "x", all_of({2, 2}), "tp").values = {{1, 2, 3.0000000000000004, 4}};

  const CaseReport report = made.judge();

  const CheckResult& replicas = result_of(report, "replicas");
  ASSERT_EQ(replicas.findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(report.verdict, Verdict::diverges);
  EXPECT_EQ(first_cause(report)->check, "replicas");
  EXPECT_EQ(replicas.findings[0].index, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(replicas.findings[0].rank, 1);
  EXPECT_EQ(replicas.findings[0].reference, 3);
  EXPECT_GT(replicas.findings[0].candidate, 3);
  EXPECT_EQ(replicas.findings[0].error_ulp, 1);
  EXPECT_THAT(replicas.findings[0].text, HasSubstr("rank 0 (tp0) holds 3, rank 1 (tp1) holds 3."));
  EXPECT_EQ(result_of(report, "coverage").verdict, Verdict::conforms);
}

TEST(Judge, CopiesOfUnlikeSignedZerosAreNotTheSameBits) {
  MadeCase made(kTp2);
  made.add("x", {2}, {0, 500});
  made.give(0, "x", all_of({2}), "tp").values = {{-0.0, 500}};
  made.give(1, "x", all_of({2}), "tp").values = {{0.0, 500}};

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "replicas").verdict, Verdict::diverges);
  EXPECT_EQ(result_of(report, "forward").verdict, Verdict::conforms);
}

// Both ranks hold the right box, but each other's numbers.
TEST(Judge, ASwappedBoxDivergesAtItsFirstElement) {
  MadeCase made(kTp2);
  made.add("x", {4}, {1, 2, 3, 4});
  made.give(0, "x", BoxPlacement{{{{2}, {2}}}}).values = {{1, 2}};
  made.give(1, "x", BoxPlacement{{{{0}, {2}}}}).values = {{3, 4}};

  const CaseReport report = made.judge();

  const CheckResult& forward = result_of(report, "forward");
  EXPECT_EQ(result_of(report, "coverage").verdict, Verdict::conforms);
  ASSERT_EQ(forward.findings.size(), 1u) << findings_text(report);
  const Finding& finding = forward.findings[0];
  EXPECT_EQ(finding.gravity, Verdict::diverges);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(finding.rank, 1);
  EXPECT_EQ(finding.coordinate, "tp1");
  EXPECT_EQ(finding.piece_index, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(finding.reference, 1);
  EXPECT_EQ(finding.candidate, 3);
  EXPECT_EQ(finding.error_relative, 2);
  EXPECT_EQ(finding.error_ulp, std::ldexp(2, 52));
  EXPECT_GT(finding.ratio, 1e6);
  EXPECT_THAT(finding.derivation, HasSubstr("S 2 x Lambda"));
  EXPECT_THAT(finding.derivation, HasSubstr("32 noisy runs"));
}

TEST(Judge, ANanOrAnInfinityDivergesBeforeAnyStatistic) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    const CaseReport report = judged({1, 2, value, 4});

    const CheckResult& forward = result_of(report, "forward");
    ASSERT_EQ(forward.findings.size(), 1u) << findings_text(report);
    EXPECT_EQ(report.verdict, Verdict::diverges);
    EXPECT_EQ(forward.findings[0].index, (std::vector<std::int64_t>{2}));
    EXPECT_THAT(forward.findings[0].text, HasSubstr("where the reference is 3"));
    EXPECT_TRUE(forward.margins.empty());
    EXPECT_EQ(result_of(report, "replicas").verdict, Verdict::conforms);  // equal bits
  }
}

TEST(Judge, AReferenceThatIsNotFiniteIsInconclusive) {
  MadeCase made(kSingle);
  made.add("x", {2}, {1, kNan});
  made.give(0, "x", all_of({2}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("the reference itself is nan"));
}

TEST(Judge, MinusZeroEqualsZeroWhereNothingMayErr) {
  MadeCase made(kSingle);
  made.add("x", {2}, {0, 1}).noise = 0;
  made.give(0, "x", all_of({2})).values = {{-0.0, 1}};

  EXPECT_EQ(made.judge().verdict, Verdict::conforms);
}

TEST(Judge, TheTiniestDifferenceCountsWhereNothingMayErr) {
  MadeCase made(kSingle);
  made.add("x", {2}, {1, 1e-310}).noise = 0;
  made.give(0, "x", all_of({2})).values = {{1, 1.5e-310}};

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::diverges);
  const Finding& finding = *first_cause(report);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{1}));
  EXPECT_THAT(finding.text, HasSubstr("no rounding reaches"));
  EXPECT_EQ(finding.candidate, 1.5e-310);
}

// fp64 sigma = 1e-8 * 2^-29 sqrt 2 = 2.6e-17; a vector of 4 has limit 2 x Lambda(4/128, z 6).
TEST(Judge, AnErrorOverItsLimitDivergesAndOneWithinItDoesNot) {
  const double sigma = 1e-8 * std::sqrt(2.0) / 536870912.0;
  const auto verdict_at = [&](double sigmas) {
    MadeCase made(kSingle);
    made.add("x", {4}, {1e-6, 1e-6, 1e-6, 1e-6});
    const double value = 1e-6 + sigmas * sigma;
    made.give(0, "x", all_of({4})).values = {{value, value, value, value}};
    return made.judge().verdict;
  };

  EXPECT_EQ(verdict_at(3), Verdict::conforms);
  EXPECT_EQ(verdict_at(9), Verdict::diverges);
}

TEST(Judge, ARecordNearItsLimitIsListed) {
  const double sigma = 1e-8 * std::sqrt(2.0) / 536870912.0;
  MadeCase made(kSingle);
  made.add("loss", {1}, {1e-6}).spec.phase = Phase::loss;
  made.give(0, "loss", all_of({1})).values = {{1e-6 + 16 * sigma}};

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_THAT(result_of(report, "loss").notes, Contains(HasSubstr("near: loss loss step 0")));
}

TEST(Judge, ALimitThatWouldAcceptZerosIsInconclusiveUnlessZerosAreExpected) {
  for (const bool expected : {false, true}) {
    MadeCase made(kSingle);
    MadeRecord& record = made.add("x", {4}, {1e-17, 0, 0, 0});
    record.spec.zero_expected = expected;
    made.give(0, "x", all_of({4}));

    const CaseReport report = made.judge();

    EXPECT_EQ(report.verdict, expected ? Verdict::conforms : Verdict::inconclusive);
  }
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

TEST(Judge, IntegersAreComparedExactly) {
  MadeCase made(kSingle);
  MadeRecord& ids = made.add("sample_ids", {3}, {48, 49, 50});
  ids.spec.phase = Phase::exact;
  ids.spec.type = ElementType::int64;
  made.give(0, "sample_ids", all_of({3})).values = {{48, 50, 50}};

  const CaseReport report = made.judge();

  const Finding& finding = *first_cause(report);
  EXPECT_EQ(finding.check, "forward");
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(finding.text, "not equal: reference 49, candidate 50");
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
              Contains("not compared yet (rebased steps and laws of adamw): grad w step 1"));
  EXPECT_THAT(result_of(report, "step").notes, Contains(HasSubstr("2 records")));
}

TEST(Judge, EveryStepOfSgdIsCompared) {
  const CaseReport clean = judged_in_two_steps("sgd-", 0);
  const CaseReport wrong = judged_in_two_steps("sgd-", 1e-6);

  EXPECT_EQ(clean.verdict, Verdict::conforms);
  EXPECT_EQ(result_of(clean, "step").compared, 2);
  EXPECT_EQ(wrong.verdict, Verdict::diverges);
  EXPECT_EQ(first_cause(wrong)->step, 1);
  EXPECT_EQ(first_cause(wrong)->check, "grad");
}

TEST(Judge, ANanInAStepThatIsNotComparedStillDiverges) {
  EXPECT_EQ(judged_in_two_steps("", kNan).verdict, Verdict::diverges);
}

TEST(Judge, ADeadRunIsInconclusiveWithTheListOfTensors) {
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

TEST(Judge, ALossThatStandsStillIsInconclusive) {
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

TEST(Judge, WhatLiesBehindTheFirstCauseIsMarked) {
  MadeCase made(kSingle);
  for (const char* name : {"first", "second"}) {
    made.add(name, {1}, {1});
    made.give(0, name, all_of({1})).values = {{2}};
  }
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(first_cause(report)->record, "first");
  EXPECT_EQ(first_cause(report)->follows_from, "");
  EXPECT_EQ(result_of(report, "forward").findings[1].follows_from, "forward forward first step 0");
  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "forward forward first step 0");
}

TEST(Judge, GradientsDoNotFollowFromOtherGradients) {
  MadeCase made(kSingle);
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "");
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
