#include "reports/markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reports/finding_text.hpp"
#include "reports/margins.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CaseReport report_with(std::vector<double> margins) {
  CheckResult check;
  check.check = "forward";
  for (std::size_t i = 0; i < margins.size(); ++i) {
    check.margins.push_back(
        {"layer" + std::to_string(i) + ".out", Phase::forward, 0, 'R', margins[i], 0});
  }
  CaseReport report;
  report.case_id = "good";
  report.verdict = Verdict::conforms;
  report.checks = {check};
  report.seconds = 1.25;
  return report;
}

CaseReport diverging() {
  Finding finding;
  finding.check = "grad";
  finding.record = "embed.weight";
  finding.phase = Phase::grad;
  finding.step = 0;
  finding.rank = 1;
  finding.coordinate = "dp1";
  finding.index = {4, 5};
  finding.has_values = true;
  finding.reference = 1.5;
  finding.candidate = 2.5;
  finding.limit = 0.25;
  finding.ratio = 4;
  finding.derivation = "2 * 0.125";
  finding.text = "relative error of the tensor is above its limit";
  CheckResult check;
  check.check = "grad";
  check.verdict = Verdict::diverges;
  check.findings = {finding};
  CaseReport report;
  report.case_id = "bad";
  report.verdict = Verdict::diverges;
  report.checks = {check};
  report.replay = "meshparity replay bad";
  return report;
}

RunPlan plan_of(std::vector<std::string> cases) {
  RunPlan plan;
  plan.command = "meshparity run";
  plan.cases = std::move(cases);
  return plan;
}

TEST(Markdown, ShowsVerdictWorstMarginAndPlaceOfEachCaseInThePlansOrder) {
  const std::string page =
      render_markdown(plan_of({"good", "bad"}), {diverging(), report_with({0.1, 0.3, 0.2})});

  EXPECT_THAT(page, HasSubstr("# Parity report: 1 diverge, 1 conform\n"));
  EXPECT_THAT(page, HasSubstr("| `good` | conforms | 0.3 | forward layer1.out step 0 (R) | 1.25 |\n"
                              "| `bad` | diverges | - | - | 0.00 |\n"));
}

TEST(Markdown, ExplainsACaseThatDiverges) {
  const std::string page = render_markdown(plan_of({"bad"}), {diverging()});

  EXPECT_THAT(page, HasSubstr("### bad (diverges)"));
  EXPECT_THAT(
      page,
      HasSubstr(
          "* grad embed.weight step 0 (check grad), rank 1 (dp1): relative error of the tensor "
          "is above its limit\n"));
  EXPECT_THAT(page, HasSubstr("index (4, 5)"));
  EXPECT_THAT(page, HasSubstr("reference 1.5, candidate 2.5"));
  EXPECT_THAT(page, HasSubstr("limit 0.25, ratio 4: 2 * 0.125"));
  EXPECT_THAT(page, HasSubstr("Again: `meshparity replay bad`"));
}

TEST(Markdown, HasNoSectionForACaseThatConforms) {
  EXPECT_THAT(render_markdown(plan_of({"good"}), {report_with({0.1})}),
              Not(HasSubstr("do not conform")));
}

TEST(Markdown, SaysThatACaseOfThePlanHasNoResult) {
  EXPECT_THAT(render_markdown(plan_of({"good", "lost"}), {report_with({0.1})}),
              HasSubstr("| `lost` | no result |"));
}

TEST(Markdown, ListsWhatWasExcludedWithItsReason) {
  RunPlan plan = plan_of({});
  plan.excluded = {{"five", "heads 24 | tp 5"}};

  EXPECT_THAT(render_markdown(plan, {}), HasSubstr("| `five` | heads 24 \\| tp 5 |"));
}

TEST(Markdown, CountsTheFindingsThatItDoesNotShow) {
  CaseReport report = diverging();
  report.checks[0].findings.resize(20, report.checks[0].findings[0]);

  EXPECT_THAT(render_markdown(plan_of({"bad"}), {report}),
              HasSubstr("8 findings more are in `results.jsonl`"));
}

TEST(Margins, TakesNanForTheWorst) {
  const CaseReport report = report_with({0.5, std::numeric_limits<double>::quiet_NaN(), 0.75});

  EXPECT_EQ(worst_margin(report)->record, "layer1.out");
}

TEST(Margins, FindsNoWorstWhereNoneWasMeasured) {
  EXPECT_FALSE(worst_margin(diverging()).has_value());
}

// Clean candidates attain a law's limit; what tells is the noise, or a law that is broken.
TEST(Margins, ALawThatIsKeptIsTheWorstOnlyWhereNothingElseWasMeasured) {
  CaseReport report = report_with({0.25, 0.99});
  report.checks[0].margins[1].statistic = kLawStatistic;
  EXPECT_EQ(worst_margin(report)->record, "layer0.out");

  report.checks[0].margins[1].margin = 1.01;
  EXPECT_EQ(worst_margin(report)->record, "layer1.out");

  report.checks[0].margins = {report.checks[0].margins[1]};
  report.checks[0].margins[0].margin = 0.99;
  EXPECT_EQ(worst_margin(report)->margin, 0.99);
}

TEST(Margins, SpreadsOfLawsStandApart) {
  CaseReport report = report_with({0.25, 0.99});
  report.checks[0].margins[1].statistic = kLawStatistic;

  const auto spreads = margin_spreads({report});

  ASSERT_EQ(spreads.size(), 2u);
  EXPECT_EQ(spreads[0].name, "forward");
  EXPECT_EQ(spreads[0].worst.margin, 0.25);
  EXPECT_EQ(spreads[1].name, "law forward");
  EXPECT_EQ(spreads[1].worst.margin, 0.99);
}

TEST(Margins, SpreadsOverAllCases) {
  const auto spreads = margin_spreads({report_with({0, 0.1, 0.2, 0.3}), report_with({0.9, 0.4})});

  ASSERT_EQ(spreads.size(), 1u);
  EXPECT_EQ(spreads[0].count, 6u);
  EXPECT_EQ(spreads[0].zeros, 1u);
  EXPECT_EQ(spreads[0].median, 0.2);  // third of 0 0.1 0.2 0.3 0.4 0.9
  EXPECT_EQ(spreads[0].p90, 0.9);
  EXPECT_EQ(spreads[0].worst.margin, 0.9);
}

TEST(FindingText, LeavesOutWhatIsNotKnown) {
  Finding finding;
  finding.check = "liveness";
  finding.text = "the worker died";

  EXPECT_THAT(describe_finding(finding), ElementsAre("liveness: the worker died"));
}

TEST(FindingText, SpeaksOfNoLimitWhereEqualityIsDue) {
  Finding finding;
  finding.check = "replicas";
  finding.has_values = true;
  finding.reference = 1;
  finding.candidate = 2;
  finding.derivation = "copies are equal bit for bit";

  EXPECT_THAT(describe_finding(finding),
              ElementsAre("replicas", "reference 1, candidate 2", "copies are equal bit for bit"));
}

TEST(FindingText, CountsOutcomes) {
  CaseReport skipped;
  skipped.not_run = "no GPU";

  const Tally counted = tally({diverging(), skipped, report_with({}), CaseReport{}});

  EXPECT_EQ(describe_tally(counted), "1 diverge, 1 inconclusive, 1 conform, 1 not run");
}

}  // namespace
}  // namespace meshparity
