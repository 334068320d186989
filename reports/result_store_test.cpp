#include "reports/result_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fixtures/error.hpp"
#include "reports/report_json.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

CaseReport rich_report() {
  Finding finding;
  finding.gravity = Verdict::diverges;
  finding.check = "forward";
  finding.record = "layer0.attn.out";
  finding.phase = Phase::backward;
  finding.step = 1;
  finding.mb = 2;
  finding.order = 17;
  finding.rank = 3;
  finding.coordinate = "dp0 tp1";
  finding.index = {1, 2, 3};
  finding.piece_index = {77};
  finding.has_values = true;
  finding.reference = 0.1;
  finding.candidate = std::numeric_limits<double>::quiet_NaN();
  finding.error_ulp = std::numeric_limits<double>::infinity();
  finding.error_relative = -std::numeric_limits<double>::infinity();
  finding.ratio = 1.0 / 3.0;
  finding.limit = 5e-324;
  finding.derivation = "S * sqrt(total) = 2 * \"0.5\"";
  finding.text = "a | bar and a\nnewline";
  finding.follows_from = "forward layer0.mlp.out step 0";
  CheckResult check;
  check.check = "forward";
  check.verdict = Verdict::diverges;
  check.evidence = false;
  check.compared = (std::int64_t{1} << 53) + 1;
  check.findings = {finding};
  check.margins = {{"logits", Phase::forward, 2, 'G', 0.25, 1e-7}};
  check.traffic = {{"dp,cp", 3, (std::int64_t{1} << 53) + 1}};
  check.notes = {"not compared yet: param step 1"};
  CaseReport report;
  report.case_id = "gpt-tiny.dp2.plain.fp64.host-threads";
  report.verdict = Verdict::diverges;
  report.checks = {check};
  report.seconds = 0.1;
  report.replay = "meshparity replay x";
  return report;
}

class ResultStoreTest : public testing::Test {
 protected:
  ResultStoreTest() {
    file_ = fs::path(testing::TempDir()) /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".jsonl");
    fs::remove(file_);
  }
  fs::path file_;
};

TEST_F(ResultStoreTest, GivesBackEveryFieldOfAFinding) {
  ResultStore(file_).append(rich_report());

  const std::vector<CaseReport> back = read_results(file_);

  ASSERT_EQ(back.size(), 1u);
  const Finding& is = back[0].checks.at(0).findings.at(0);
  const CaseReport should_report = rich_report();
  const Finding& should = should_report.checks[0].findings[0];
  EXPECT_EQ(is.gravity, should.gravity);
  EXPECT_EQ(is.check, should.check);
  EXPECT_EQ(is.record, should.record);
  EXPECT_EQ(is.phase, should.phase);
  EXPECT_EQ(is.step, 1);
  EXPECT_EQ(is.mb, 2);
  EXPECT_EQ(is.order, 17);
  EXPECT_EQ(is.rank, 3);
  EXPECT_EQ(is.coordinate, should.coordinate);
  EXPECT_EQ(is.index, should.index);
  EXPECT_EQ(is.piece_index, should.piece_index);
  EXPECT_TRUE(is.has_values);
  EXPECT_EQ(is.reference, 0.1);
  EXPECT_TRUE(std::isnan(is.candidate));
  EXPECT_EQ(is.error_ulp, should.error_ulp);
  EXPECT_EQ(is.error_relative, should.error_relative);
  EXPECT_EQ(is.ratio, 1.0 / 3.0);
  EXPECT_EQ(is.limit, 5e-324);
  EXPECT_EQ(is.derivation, should.derivation);
  EXPECT_EQ(is.text, should.text);
  EXPECT_EQ(is.follows_from, should.follows_from);
}

TEST_F(ResultStoreTest, GivesBackChecksAndMargins) {
  ResultStore(file_).append(rich_report());

  const CaseReport back = read_results(file_).at(0);

  EXPECT_EQ(back.case_id, "gpt-tiny.dp2.plain.fp64.host-threads");
  EXPECT_EQ(back.verdict, Verdict::diverges);
  EXPECT_EQ(back.seconds, 0.1);
  EXPECT_EQ(back.replay, "meshparity replay x");
  const CheckResult& check = back.checks.at(0);
  EXPECT_EQ(check.check, "forward");
  EXPECT_EQ(check.verdict, Verdict::diverges);
  EXPECT_FALSE(check.evidence);
  EXPECT_EQ(check.compared, (std::int64_t{1} << 53) + 1);
  EXPECT_THAT(check.notes, testing::ElementsAre("not compared yet: param step 1"));
  EXPECT_THAT(check.traffic,
              testing::ElementsAre(AxisTraffic{"dp,cp", 3, (std::int64_t{1} << 53) + 1}));
  const Margin& margin = check.margins.at(0);
  EXPECT_EQ(margin.record, "logits");
  EXPECT_EQ(margin.phase, Phase::forward);
  EXPECT_EQ(margin.step, 2);
  EXPECT_EQ(margin.statistic, 'G');
  EXPECT_EQ(margin.margin, 0.25);
  EXPECT_EQ(margin.sees, 1e-7);
}

TEST_F(ResultStoreTest, KeepsTheReasonOfACaseThatWasNotRun) {
  CaseReport report;
  report.case_id = "x";
  report.not_run = "heads 24 do not divide by tp 5";

  ResultStore(file_).append(report);

  EXPECT_EQ(read_results(file_).at(0).not_run, report.not_run);
}

TEST_F(ResultStoreTest, AppendsAndKeepsTheOrder) {
  CaseReport report;
  report.case_id = "first";
  ResultStore(file_).append(report);
  report.case_id = "second";
  ResultStore(file_).append(report);

  const std::vector<CaseReport> back = read_results(file_);

  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[1].case_id, "second");
}

TEST_F(ResultStoreTest, LeavesOutTheLineThatAnInterruptedRunCutOff) {
  CaseReport report;
  report.case_id = "first";
  ResultStore(file_).append(report);
  std::ofstream(file_, std::ios::app) << "{\"case\":\"seco";

  EXPECT_EQ(read_results(file_).size(), 1u);
}

TEST_F(ResultStoreTest, NamesFileAndLineOfWhatIsNoReport) {
  std::ofstream(file_) << format_report(CaseReport{}) << "\n{\"case\":1}\n";

  try {
    read_results(file_);
    FAIL() << "it was read";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(file_.string() + ":2: no report of a case: "));
  }
}

TEST_F(ResultStoreTest, WritesBytesThatAreNoTextAsReplacements) {
  CaseReport report;
  report.case_id = "x\xff";

  EXPECT_EQ(parse_report(format_report(report)).case_id, "x\uFFFD");
}

}  // namespace
}  // namespace meshparity
