#include "matrix/checks/equality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

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

TEST(Equality, ANanOrAnInfinityDivergesBeforeAnyStatistic) {
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

TEST(Equality, AReferenceThatIsNotFiniteIsInconclusive) {
  MadeCase made(kSingle);
  made.add("x", {2}, {1, kNan});
  made.give(0, "x", all_of({2}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("the reference itself is nan"));
}

TEST(Equality, IntegersAreComparedExactly) {
  MadeCase made(kSingle);
  MadeRecord& ids = made.add("sample_ids", {3}, {48, 49, 50});
  ids.spec.phase = Phase::exact;
  ids.spec.type = ElementType::int64;
  made.give(0, "sample_ids", all_of({3})).values = {{48, 50, 50}};

  const CaseReport report = made.judge();

  const Finding finding = cause_of(report);
  EXPECT_EQ(finding.check, "forward");
  EXPECT_EQ(finding.index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(finding.text, "not equal: reference 49, candidate 50");
}

}  // namespace
}  // namespace meshparity
