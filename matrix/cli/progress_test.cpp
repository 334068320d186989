#include "matrix/cli/progress.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshparity {
namespace {

CaseReport report_of(Verdict verdict) {
  CheckResult check;
  check.check = "forward";
  check.margins = {{"logits", Phase::forward, 0, 'R', 0.314, 0}};
  CaseReport report;
  report.case_id = "gpt-tiny.dp2.plain.fp64.host-threads";
  report.verdict = verdict;
  report.checks = {check};
  report.seconds = 1.5;
  return report;
}

TEST(ProgressLine, SaysVerdictWorstMarginSecondsAndId) {
  EXPECT_EQ(progress_line(Terminal(Color::never), report_of(Verdict::conforms)),
            "conforms         0.31    1.50 s  gpt-tiny.dp2.plain.fp64.host-threads");
}

TEST(ProgressLine, KeepsItsColumnsWhereTheMarginIsHuge) {
  CaseReport report = report_of(Verdict::diverges);
  report.checks[0].margins[0].margin = 1402549556561228.75;

  EXPECT_EQ(progress_line(Terminal(Color::never), report),
            "diverges      1.4e+15    1.50 s  gpt-tiny.dp2.plain.fp64.host-threads");
}

TEST(ProgressLine, HasNoMarginWhereNoneWasMeasured) {
  CaseReport report = report_of(Verdict::inconclusive);
  report.checks.clear();

  EXPECT_EQ(progress_line(Terminal(Color::never), report),
            "inconclusive        -    1.50 s  gpt-tiny.dp2.plain.fp64.host-threads");
}

TEST(ProgressLine, IsRedWhereACaseDivergesAndColourIsWanted) {
  EXPECT_THAT(progress_line(Terminal(Color::always), report_of(Verdict::diverges)),
              testing::StartsWith("\033[31mdiverges    \033[0m  "));
}

}  // namespace
}  // namespace meshparity
