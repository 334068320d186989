#include "matrix/checks/bounded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";
constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

// Both ranks hold the right box, but each other's numbers.
TEST(Bounded, ASwappedBoxDivergesAtItsFirstElement) {
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

TEST(Bounded, MinusZeroEqualsZeroWhereNothingMayErr) {
  MadeCase made(kSingle);
  made.add("x", {2}, {0, 1}).noise = 0;
  made.give(0, "x", all_of({2})).values = {{-0.0, 1}};

  EXPECT_EQ(made.judge().verdict, Verdict::conforms);
}

TEST(Bounded, TheTiniestDifferenceCountsWhereNothingMayErr) {
  MadeCase made(kSingle);
  made.add("x", {2}, {1, 1e-310}).noise = 0;
  made.give(0, "x", all_of({2})).values = {{1, 1.5e-310}};

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::diverges);
  const Finding finding = cause_of(report);
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{1}));
  EXPECT_THAT(finding.text, HasSubstr("no rounding reaches"));
  EXPECT_EQ(finding.candidate, 1.5e-310);
}

// fp64 sigma = 1e-8 * 2^-29 sqrt 2 = 2.6e-17; a vector of 4 has limit 2 x Lambda(4/128, z 6).
TEST(Bounded, AnErrorOverItsLimitDivergesAndOneWithinItDoesNot) {
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

TEST(Bounded, ARecordNearItsLimitIsListed) {
  const double sigma = 1e-8 * std::sqrt(2.0) / 536870912.0;
  MadeCase made(kSingle);
  made.add("loss", {1}, {1e-6}).spec.phase = Phase::loss;
  made.give(0, "loss", all_of({1})).values = {{1e-6 + 16 * sigma}};

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_THAT(result_of(report, "loss").notes, Contains(HasSubstr("near: loss loss step 0")));
}

TEST(Bounded, ALimitThatWouldAcceptZerosIsInconclusiveUnlessZerosAreExpected) {
  for (const bool expected : {false, true}) {
    MadeCase made(kSingle);
    MadeRecord& record = made.add("x", {4}, {1e-17, 0, 0, 0});
    record.spec.zero_expected = expected;
    made.give(0, "x", all_of({4}));

    const CaseReport report = made.judge();

    EXPECT_EQ(report.verdict, expected ? Verdict::conforms : Verdict::inconclusive);
  }
}

}  // namespace
}  // namespace meshparity
