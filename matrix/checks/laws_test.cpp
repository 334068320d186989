// One law about one record, asked directly.
#include "matrix/checks/laws.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fixtures/error.hpp"
#include "matrix/made_rebased.hpp"
#include "matrix/rebased_reference.hpp"

namespace meshparity {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

/// What the law {1, 2, 4} +- {0.5, 0.5, 0} says of these values.
CheckResult asked(const std::vector<double>& candidate, std::vector<std::uint8_t> mask = {}) {
  MadeCase made("gpt-tiny.single.plain.fp64.host-threads");
  made.add("w", {3}, {1, 2, 4}).spec.phase = Phase::param;
  made.give(0, "w", whole(std::vector<std::int64_t>{3}));
  const Evidence evidence = made.write();
  const RebasedReference rebased(
      MadeRebased(made).law(0, Phase::param, "w", {{1, 2, 4}, {0.5, 0.5, 0}}).finish());
  const DumpSet reference(evidence.reference);
  const DumpSet dumped(evidence.candidate);
  const JudgeContext context{evidence, reference, dumped, nullptr, std::nullopt, &rebased};
  const RecordRow row = reference.readers().at(0).records().at(0);
  CheckResult result;
  const RecordEvidence record = gather(context, row, std::move(mask));
  check_law(context, record, rebased.laws(record.key()).at(0), candidate, result);
  return result;
}

TEST(Laws, KeepQuietWithinTheirLimits) {
  const CheckResult result = asked({1.5, 1.75, 4});

  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.compared, 3);
  EXPECT_EQ(result.margins.at(0).margin, 1);
}

TEST(Laws, NameTheElementThatIsFarthestOver) {
  const CheckResult result = asked({1.75, 3.5, 4});

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(result.findings[0].ratio, 3);
}

TEST(Laws, WhatIsNoNumberIsFartherThanAnything) {
  const CheckResult result = asked({100, kNan, 4});

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].gravity, Verdict::diverges);
  EXPECT_EQ(result.findings[0].index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(result.margins.at(0).margin, std::numeric_limits<double>::infinity());
}

TEST(Laws, SpeakOfDemandedElementsOnly) {
  EXPECT_TRUE(asked({1, 2, 5}, {1, 1, 0}).findings.empty());
  EXPECT_FALSE(asked({1, 2, 5}, {1, 0, 1}).findings.empty());
}

TEST(Laws, RefuseARecordOfAnotherSize) {
  EXPECT_THROW(asked({1, 2}), UsageError);
}

}  // namespace
}  // namespace meshparity
