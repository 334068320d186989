#include "reports/ci_text.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

CaseReport found(const std::string& id, Verdict verdict, const std::string& text) {
  CaseReport report;
  report.case_id = id;
  report.verdict = verdict;
  report.checks.resize(1);
  report.checks[0].verdict = verdict;
  if (verdict != Verdict::conforms) {
    Finding finding;
    finding.gravity = verdict;
    finding.check = "loss";
    finding.text = text;
    report.checks[0].findings.push_back(finding);
  }
  return report;
}

TEST(CutPage, APageThatFitsIsWhole) {
  EXPECT_EQ(cut_page("one\ntwo\n", 8), "one\ntwo\n");
}

TEST(CutPage, ALongerOneEndsWithAWholeLineAndASentence) {
  std::string page;
  for (int line = 0; line < 1000; ++line) {
    page += fmt::format("line {:03}\n", line);
  }

  const std::string cut = cut_page(page, 200);

  EXPECT_LE(cut.size(), 200u);
  EXPECT_GT(cut.size(), 180u);
  EXPECT_THAT(cut, StartsWith("line 000\nline 001\n"));
  EXPECT_THAT(cut, EndsWith("\n\nCut here: the report has 9000 bytes, more than fit; report.md has "
                            "all.\n"));
}

TEST(CutPage, ALineLongerThanAllIsLeftOut) {
  EXPECT_THAT(cut_page(std::string(2 * kSummaryLimit, 'x'), kSummaryLimit), StartsWith("\nCut"));
}

TEST(Annotations, TellOfDivergingCasesFirstAndOfConformingOnesNever) {
  CaseReport elsewhere;
  elsewhere.case_id = "elsewhere";
  elsewhere.not_run = "no GPU";
  const auto lines =
      annotations({found("open", Verdict::inconclusive, "no limits"), elsewhere,
                   found("good", Verdict::conforms, ""), found("bad", Verdict::diverges, "wrong")});

  EXPECT_THAT(lines, ElementsAre("::error title=bad::diverges: loss: wrong",
                                 "::error title=open::inconclusive: loss: no limits"));
  EXPECT_THAT(annotations({found("good", Verdict::conforms, "")}), IsEmpty());
}

TEST(Annotations, EscapeWhatWouldEndThem) {
  CaseReport report = found("a", Verdict::diverges, "50 % of: x,\ny");
  report.relation = "sp";
  report.partner = "b:c,d";

  EXPECT_THAT(annotations({report}),
              ElementsAre("::error title=a = b%3Ac%2Cd (sp)::diverges: loss: 50 %25 of: x,%0Ay"));
}

TEST(Annotations, AreTenAtMostAndTheLastCountsTheOthers) {
  const std::vector<CaseReport> reports(12, found("bad", Verdict::diverges, "wrong"));

  const auto lines = annotations(reports);

  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines.back(), "::error title=meshparity::3 more do not conform; see report.md");
}

}  // namespace
}  // namespace meshparity
