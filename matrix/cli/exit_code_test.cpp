#include "matrix/cli/exit_code.hpp"

#include <gtest/gtest.h>

namespace meshparity {
namespace {

std::vector<CaseReport> reports_of(const std::vector<Verdict>& verdicts) {
  std::vector<CaseReport> reports(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    reports[i].verdict = verdicts[i];
  }
  return reports;
}

TEST(ExitCode, IsZeroOnlyWhereEverythingConforms) {
  EXPECT_EQ(exit_code(reports_of({Verdict::conforms, Verdict::conforms}), false), 0);
  EXPECT_EQ(exit_code(reports_of({Verdict::conforms, Verdict::inconclusive}), false), 3);
  EXPECT_EQ(exit_code(reports_of({Verdict::conforms, Verdict::diverges}), false), 1);
}

TEST(ExitCode, LetsADivergenceOutweighEverything) {
  EXPECT_EQ(exit_code(reports_of({Verdict::inconclusive, Verdict::diverges}), true), 1);
}

TEST(ExitCode, IsThreeWhereNothingRan) {
  CaseReport skipped;
  skipped.verdict = Verdict::conforms;
  skipped.not_run = "no GPU";

  EXPECT_EQ(exit_code(std::vector<CaseReport>{}, false), 3);
  EXPECT_EQ(exit_code(std::vector<CaseReport>{skipped}, false), 3);
}

TEST(ExitCode, IsThreeWhereACaseThatWasAskedForDidNotRun) {
  EXPECT_EQ(exit_code(reports_of({Verdict::conforms}), true), 3);
}

TEST(ExitCode, OfOneVerdictIsItsOwn) {
  EXPECT_EQ(exit_code(Verdict::conforms), 0);
  EXPECT_EQ(exit_code(Verdict::diverges), 1);
  EXPECT_EQ(exit_code(Verdict::inconclusive), 3);
}

}  // namespace
}  // namespace meshparity
