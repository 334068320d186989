// For the two tests of coverage: small made cases and their one finding.
#pragma once
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "matrix/made_case.hpp"

namespace meshparity {

inline constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";
inline constexpr const char* kDp2Tp2 = "gpt-tiny.dp2-tp2.sgd-steps1.fp64.host-threads";

/// 1, 2, 3, ...
inline std::vector<double> counted(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

inline Placement box(std::vector<std::int64_t> start, std::vector<std::int64_t> extent) {
  return BoxPlacement{{{std::move(start), std::move(extent)}}};
}

/// The one finding of coverage; fails the test when there is another number of them.
inline Finding only_finding(const CaseReport& report) {
  const CheckResult& coverage = result_of(report, "coverage");
  EXPECT_EQ(coverage.findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(report.verdict, Verdict::diverges);
  EXPECT_EQ(coverage.verdict, Verdict::diverges);
  return coverage.findings.empty() ? Finding{} : coverage.findings.front();
}

}  // namespace meshparity
