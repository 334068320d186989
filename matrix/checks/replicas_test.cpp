#include "matrix/checks/replicas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

TEST(Replicas, TwoCopiesThatDifferAreNamedWithTheirRanksAndValues) {
  MadeCase made(kTp2);
  made.add("x", {2, 2}, {1, 2, 3, 4});
  made.give(0, "x", all_of({2, 2}), "tp");
  made.give(1, "x", all_of({2, 2}), "tp").values = {{1, 2, 3.0000000000000004, 4}};

  const CaseReport report = made.judge();

  const CheckResult& replicas = result_of(report, "replicas");
  ASSERT_EQ(replicas.findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(report.verdict, Verdict::diverges);
  EXPECT_EQ(cause_of(report).check, "replicas");
  EXPECT_EQ(replicas.findings[0].index, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(replicas.findings[0].rank, 1);
  EXPECT_EQ(replicas.findings[0].reference, 3);
  EXPECT_GT(replicas.findings[0].candidate, 3);
  EXPECT_EQ(replicas.findings[0].error_ulp, 1);
  EXPECT_THAT(replicas.findings[0].text, HasSubstr("rank 0 (tp0) holds 3, rank 1 (tp1) holds 3."));
  EXPECT_EQ(result_of(report, "coverage").verdict, Verdict::conforms);
}

// Rank 1 holds the record in two pieces, the later elements first; both differ.
TEST(Replicas, TheLeastElementIsNamedInWhateverOrderPiecesStand) {
  MadeCase made(kTp2);
  made.add("x", {4}, {1, 2, 3, 4});
  made.give(0, "x", all_of({4}), "tp");
  made.give(1, "x", BoxPlacement{{{{2}, {2}}}}, "tp").values = {{3, 5}};
  MadePiece& low = made.give(1, "x", BoxPlacement{{{{0}, {2}}}}, "tp");
  low.values = {{1, 5}};
  low.mb = 1;

  const CheckResult replicas = result_of(made.judge(), "replicas");

  EXPECT_EQ(replicas.findings.at(0).index, (std::vector<std::int64_t>{1}));
  EXPECT_EQ(replicas.findings.at(0).piece_index, (std::vector<std::int64_t>{1}));
}

TEST(Replicas, CopiesOfUnlikeSignedZerosAreNotTheSameBits) {
  MadeCase made(kTp2);
  made.add("x", {2}, {0, 500});
  made.give(0, "x", all_of({2}), "tp").values = {{-0.0, 500}};
  made.give(1, "x", all_of({2}), "tp").values = {{0.0, 500}};

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "replicas").verdict, Verdict::diverges);
  EXPECT_EQ(result_of(report, "forward").verdict, Verdict::conforms);
}

}  // namespace
}  // namespace meshparity
