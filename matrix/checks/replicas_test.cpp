#include "matrix/checks/replicas.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

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

// Rank 1 holds the record in three pieces that all differ; the least elements stand in the middle.
TEST(Replicas, TheLeastElementIsNamedInWhateverOrderPiecesStand) {
  MadeCase made(kTp2);
  made.add("x", {6}, {1, 2, 3, 4, 5, 6});
  made.give(0, "x", all_of({6}), "tp");
  for (const int mb : {0, 1, 2}) {
    const std::int64_t first = std::array{2, 0, 4}[static_cast<std::size_t>(mb)];
    MadePiece& piece = made.give(1, "x", BoxPlacement{{{{first}, {2}}}}, "tp");
    piece.values = {{static_cast<double>(first) + 1, 77}};
    piece.mb = mb;
  }

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
