#include "matrix/verdict.hpp"

#include <gtest/gtest.h>

namespace meshparity {
namespace {

CheckResult check_of(std::string name, Verdict verdict) {
  CheckResult check;
  check.check = std::move(name);
  check.verdict = verdict;
  return check;
}

Finding finding_of(std::string check, int step, std::int64_t order) {
  Finding finding;
  finding.check = std::move(check);
  finding.step = step;
  finding.order = order;
  return finding;
}

TEST(Verdict, TheGravestWins) {
  EXPECT_EQ(gravest({check_of("forward", Verdict::conforms), check_of("loss", Verdict::diverges),
                     check_of("grad", Verdict::inconclusive)}),
            Verdict::diverges);
  EXPECT_EQ(
      gravest({check_of("forward", Verdict::inconclusive), check_of("loss", Verdict::conforms)}),
      Verdict::inconclusive);
  EXPECT_EQ(gravest({check_of("forward", Verdict::conforms)}), Verdict::conforms);
}

TEST(Verdict, NoEvidenceIsInconclusiveAndAddsNothing) {
  CheckResult blind = check_of("forward", Verdict::diverges);
  blind.evidence = false;

  EXPECT_EQ(gravest({}), Verdict::inconclusive);
  EXPECT_EQ(gravest({blind}), Verdict::inconclusive);
  EXPECT_EQ(gravest({blind, check_of("loss", Verdict::conforms)}), Verdict::conforms);
}

TEST(FirstCause, TakesTheEarlierStepBeforeTheEarlierCheck) {
  CaseReport report;
  report.verdict = Verdict::diverges;
  report.checks = {check_of("forward", Verdict::diverges), check_of("grad", Verdict::diverges)};
  report.checks[0].findings = {finding_of("forward", 1, 3)};
  report.checks[1].findings = {finding_of("grad", 0, 90), finding_of("grad", 0, 80)};

  const Finding* first = first_cause(report);

  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->check, "grad");
  EXPECT_EQ(first->order, 80);
}

TEST(FirstCause, TakesTheEarlierCheckWithinAStep) {
  CaseReport report;
  report.verdict = Verdict::diverges;
  report.checks = {check_of("replicas", Verdict::diverges), check_of("forward", Verdict::diverges)};
  report.checks[0].findings = {finding_of("replicas", 0, 7)};
  report.checks[1].findings = {finding_of("forward", 0, 5)};

  EXPECT_EQ(first_cause(report)->check, "replicas");
}

TEST(FirstCause, PassesOverFindingsLessGraveThanTheVerdictAndThoseThatFollow) {
  CaseReport report;
  report.verdict = Verdict::diverges;
  report.checks = {check_of("forward", Verdict::diverges)};
  Finding unclear = finding_of("forward", 0, 1);
  unclear.gravity = Verdict::inconclusive;
  Finding result = finding_of("forward", 0, 2);
  result.follows_from = "forward embed.sum step 0";
  report.checks[0].findings = {unclear, result, finding_of("forward", 0, 3)};

  EXPECT_EQ(first_cause(report)->order, 3);
}

TEST(FirstCause, IsASecondRunOnlyWhereNothingElseIsAsGrave) {
  CaseReport report;
  report.verdict = Verdict::diverges;
  report.checks = {check_of("forward", Verdict::diverges),
                   check_of("repeatable", Verdict::diverges)};
  report.checks[0].findings = {finding_of("forward", 1, 3)};
  report.checks[1].findings = {finding_of("repeatable", 0, 1)};

  EXPECT_EQ(first_cause(report)->check, "forward");
  report.checks[0].findings[0].gravity = Verdict::inconclusive;
  EXPECT_EQ(first_cause(report)->check, "repeatable");
}

TEST(FirstCause, IsNothingWithoutFindings) {
  EXPECT_EQ(first_cause(CaseReport{}), nullptr);
}

}  // namespace
}  // namespace meshparity
