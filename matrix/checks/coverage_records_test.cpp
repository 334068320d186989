// Which files and records there are; how pieces cover one record is in coverage_test.cpp.
#include "matrix/checks/coverage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/checks/coverage_cases.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

TEST(CoveredRecords, ARecordThatNobodyWroteIsFound) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.add("y", {2}, counted(2));
  for (const int rank : {0, 1}) {
    made.give(rank, "y", box({0}, {2}), "tp");
  }

  const Finding missing = only_finding(made.judge());

  EXPECT_EQ(missing.record, "x");
  EXPECT_EQ(missing.text, "the record is missing: no rank wrote a piece");
}

TEST(CoveredRecords, AForeignCandidateMayLeaveOutWhatIsNotRequired) {
  MadeCase made("gpt-tiny.single.sgd-steps1.fp64.host-threads");
  made.edit_header = [](int, DumpHeader& header) { header.foreign = true; };
  made.add("logits", {2}, counted(2));
  made.add("x", {2}, counted(2));
  made.add("y", {2}, counted(2));
  made.give(0, "logits", box({0}, {2}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_THAT(result_of(report, "forward").notes,
              testing::Contains("not compared: the foreign candidate did not write it: 2 records, "
                                "the first forward x step 0"));
}

TEST(CoveredRecords, AForeignCandidateWithoutARequiredRecordIsInconclusive) {
  MadeCase made("gpt-tiny.single.sgd-steps1.fp64.host-threads");
  made.edit_header = [](int, DumpHeader& header) { header.foreign = true; };
  made.add("x", {2}, counted(2));
  made.add("w", {2}, counted(2)).spec.phase = Phase::grad;
  made.give(0, "x", box({0}, {2}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_EQ(result_of(report, "grad").verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report),
              HasSubstr("the foreign candidate lacks a required record: grad w step 0"));
}

// What it did write is judged like anyone's.
TEST(CoveredRecords, AHoleOfAForeignCandidateDiverges) {
  MadeCase made("gpt-tiny.single.sgd-steps1.fp64.host-threads");
  made.edit_header = [](int, DumpHeader& header) { header.foreign = true; };
  made.add("x", {2}, counted(2));
  made.give(0, "x", box({0}, {1}));

  EXPECT_EQ(made.judge().verdict, Verdict::diverges);
}

TEST(CoveredRecords, ARecordAboveTheLevelIsNoStranger) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.add("extra", {2}, counted(2)).spec.level = Level::all;
  for (const int rank : {0, 1}) {
    made.give(rank, "x", box({0}, {2}), "tp");
    made.give(rank, "extra", box({0}, {2}), "tp");
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
}

TEST(CoveredRecords, ARecordOfAHigherLevelIsNotAskedFor) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.add("extra", {2}, counted(2)).spec.level = Level::all;
  for (const int rank : {0, 1}) {
    made.give(rank, "x", box({0}, {2}), "tp");
  }

  EXPECT_EQ(made.judge().verdict, Verdict::conforms);
}

TEST(CoveredRecords, AMissingAndATornFileExplainTheRecordsThatLackThem) {
  for (const bool is_torn : {false, true}) {
    MadeCase made(kTp2);
    made.add("x", {2}, counted(2));
    made.give(0, "x", box({0}, {1}));
    made.give(1, "x", box({1}, {1}));
    (is_torn ? made.torn : made.absent) = {1};

    const CaseReport report = made.judge();

    const CheckResult& coverage = result_of(report, "coverage");
    ASSERT_EQ(coverage.findings.size(), 2u) << findings_text(report);
    EXPECT_EQ(coverage.findings[0].rank, 1);
    EXPECT_THAT(coverage.findings[0].text, HasSubstr("rank_0001.h5"));
    EXPECT_EQ(coverage.findings[1].record, "x");
    EXPECT_THAT(coverage.findings[1].follows_from, HasSubstr("rank_0001.h5"));
    EXPECT_EQ(first_cause(report), &coverage.findings[0]);
  }
}

TEST(CoveredRecords, AHeaderWithAnotherCoordinateIsFound) {
  MadeCase made(kDp2Tp2);
  made.add("x", {2}, counted(2));
  for (const int rank : {0, 1, 2, 3}) {
    made.give(rank, "x", box({0}, {2}), "dp,tp");
  }
  made.edit_header = [](int rank, DumpHeader& header) {
    if (rank == 2) {
      std::swap(header.dense_coordinate[0], header.dense_coordinate[1]);
    }
  };

  const Finding finding = only_finding(made.judge());

  EXPECT_EQ(finding.rank, 2);
  EXPECT_THAT(finding.text, HasSubstr("rank 2 (dp1 tp0) says coordinate dense [0 1 0 0 0 0]"));
}

TEST(CoveredRecords, ARecordThatTheReferenceDoesNotKnowIsFound) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.add("stranger", {2}, counted(2));
  for (const int rank : {0, 1}) {
    made.give(rank, "x", box({0}, {2}), "tp");
    made.give(rank, "stranger", box({0}, {2}), "tp");
  }
  Evidence evidence = made.write();
  MadeCase smaller(kTp2);
  smaller.add("x", {2}, counted(2));
  const Evidence reference = smaller.write();
  evidence.reference = reference.reference;
  evidence.companions = reference.companions;

  const Finding finding = only_finding(judge(evidence));

  EXPECT_EQ(finding.record, "stranger");
  EXPECT_EQ(finding.text, "the reference has no such record");
}

}  // namespace
}  // namespace meshparity
