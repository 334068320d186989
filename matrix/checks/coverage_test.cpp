#include "matrix/checks/coverage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/checks/coverage_cases.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

TEST(Coverage, TwoBoxesOfEachRankCoverARecord) {
  MadeCase made(kTp2);
  made.add("x", {8, 3}, counted(24));
  made.give(0, "x", BoxPlacement{{{{0, 0}, {2, 3}}, {{6, 0}, {2, 3}}}});
  made.give(1, "x", BoxPlacement{{{{2, 0}, {4, 3}}}});

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_EQ(result_of(report, "coverage").compared, 24);
  EXPECT_EQ(result_of(report, "forward").compared, 24);
}

TEST(Coverage, FiveThousandStripedRowsCoverARecordUntilOneIsMissing) {
  for (const bool complete : {true, false}) {
    MadeCase made(kTp2);
    made.add("x", {5000, 2}, counted(10000));
    RowsPlacement even{{{0, 0}, {2500, 2}}, 0, {}};
    RowsPlacement odd = even;
    for (std::int64_t row = 0; row < 5000; row += 2) {
      even.rows.push_back(row);
      odd.rows.push_back(row + 1);
    }
    if (!complete) {
      odd.rows.erase(odd.rows.begin() + 1200);  // row 2401
      odd.box.extent[0] = 2499;
    }
    made.give(0, "x", even);
    made.give(1, "x", odd);

    const CaseReport report = made.judge();

    if (complete) {
      EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
    } else {
      const Finding hole = only_finding(report);
      EXPECT_EQ(hole.index, (std::vector<std::int64_t>{2401, 0}));
      EXPECT_THAT(hole.text, HasSubstr("hole of 2 elements from [2401, 0]"));
      EXPECT_EQ(result_of(report, "forward").compared, 0);
    }
  }
}

// ZeRO shards of a TP shard: tp rank 0 holds columns 0..1 of [4, 4], cut into flat halves over dp.
TEST(Coverage, FlatShardsOfABoxCoverARecordUntilOneIsShifted) {
  for (const std::int64_t shift : {0, 1}) {
    MadeCase made(kDp2Tp2);
    made.add("x", {4, 4}, counted(16));
    for (const int rank : {0, 1, 2, 3}) {
      const int tp = rank % 2;
      const int dp = rank / 2;
      const std::int64_t lo = dp * 4 - (rank == 3 ? shift : 0);
      made.give(rank, "x", FlatPlacement{{{0, 2 * tp}, {4, 2}}, lo, dp * 4 + 4});
    }

    const CaseReport report = made.judge();

    if (shift == 0) {
      EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
    } else {
      const Finding overlap = only_finding(report);
      EXPECT_EQ(overlap.index, (std::vector<std::int64_t>{1, 3}));
      EXPECT_THAT(overlap.text, HasSubstr("overlap of 1 elements from [1, 3]"));
      EXPECT_THAT(overlap.text, HasSubstr("rank 1 (dp0 tp1)"));
      EXPECT_THAT(overlap.text, HasSubstr("rank 3 (dp1 tp1)"));
    }
  }
}

TEST(Coverage, AnEmptyPieceIsAPiece) {
  MadeCase made(kTp2);
  made.add("x", {4}, counted(4));
  made.give(0, "x", box({0}, {4}));
  made.give(1, "x", box({4}, {0}));

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
}

TEST(Coverage, ARankWithoutEvenAnEmptyPieceIsNamed) {
  MadeCase made(kTp2);
  made.add("x", {4}, counted(4));
  made.give(0, "x", box({0}, {4}));

  const Finding missing = only_finding(made.judge());

  EXPECT_EQ(missing.rank, 1);
  EXPECT_EQ(missing.coordinate, "tp1");
  EXPECT_EQ(missing.text, "no piece from rank 1 (tp1)");
}

// Shared over dp: rank 2 (dp1 tp0) is missing its copy of the first half.
TEST(Coverage, ACopyMissingOnOneRankIsFound) {
  MadeCase made(kDp2Tp2);
  made.add("x", {4}, counted(4));
  for (const int rank : {0, 1, 3}) {
    made.give(rank, "x", box({2 * (rank % 2)}, {2}), "dp");
  }
  made.give(2, "x", box({0}, {0}), "dp");

  const Finding hole = only_finding(made.judge());

  EXPECT_EQ(hole.text, "hole of 2 elements from [0] in the copy of dp1: no rank holds them");
  EXPECT_EQ(hole.record, "x");
  EXPECT_EQ(hole.step, 0);
}

TEST(Coverage, AHoleCountsOnlyWhereTheMaskDemandsElements) {
  for (const double demanded : {0.0, 1.0}) {
    MadeCase made(kTp2);
    made.add("x", {4}, counted(4));
    MadeRecord& mask = made.add("x.mask", {4}, {1, 1, demanded, 1});
    mask.spec.type = ElementType::uint8;
    made.give(0, "x", box({0}, {2}));
    made.give(1, "x", box({3}, {1}));
    made.give(0, "x.mask", box({0}, {4}), "tp");
    made.give(1, "x.mask", box({0}, {4}), "tp");

    const CaseReport report = made.judge();

    if (demanded == 0) {
      EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
    } else {
      EXPECT_EQ(only_finding(report).index, (std::vector<std::int64_t>{2}));
    }
  }
}

TEST(Coverage, TheMaskItselfIsComparedExactly) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.add("x.mask", {2}, {1, 0}).spec.type = ElementType::uint8;
  for (const int rank : {0, 1}) {
    made.give(rank, "x", box({0}, {2}), "tp");
    made.give(rank, "x.mask", box({0}, {2}), "tp").values = {{1, 1}};
  }

  const CaseReport report = made.judge();

  ASSERT_EQ(result_of(report, "forward").findings.size(), 1u) << findings_text(report);
  EXPECT_EQ(result_of(report, "forward").findings[0].record, "x.mask");
  EXPECT_EQ(result_of(report, "forward").findings[0].index, (std::vector<std::int64_t>{1}));
}

TEST(Coverage, AnotherShapeIsFound) {
  MadeCase made(kTp2);
  made.add("x", {4, 3}, counted(12));
  made.give(0, "x", box({0, 0}, {4, 3}), "tp");
  made.give(1, "x", box({0, 0}, {4, 4}), "tp").values = counted(16);

  const Finding shape = only_finding(made.judge());

  EXPECT_EQ(shape.rank, 1);
  EXPECT_EQ(shape.text, "rank 1 (tp1): dim 1: the box [0, 4) leaves the record's [0, 3)");
}

TEST(Coverage, AnotherElementTypeIsFound) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.give(0, "x", box({0}, {2}), "tp");
  made.give(1, "x", box({0}, {2}), "tp").type = ElementType::float32;

  EXPECT_EQ(only_finding(made.judge()).text,
            "rank 1 (tp1): element type float32, expected float64");
}

TEST(Coverage, RanksThatDisagreeOnWhatIsSharedAreFound) {
  MadeCase made(kTp2);
  made.add("x", {2}, counted(2));
  made.give(0, "x", box({0}, {2}), "tp");
  made.give(1, "x", box({0}, {2}), "");

  EXPECT_EQ(only_finding(made.judge()).text,
            "rank 0 (tp0) shares it over \"tp\", rank 1 (tp1) over \"\"");
}

}  // namespace
}  // namespace meshparity
