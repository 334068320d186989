#include "matrix/checks/axis_took_effect.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

/// dp2-tp2 with one weight, sharded over tp by columns and shared over dp.
class AxisCase {
 public:
  AxisCase() : made("gpt-tiny.dp2-tp2.sgd-steps1.fp64.host-threads") {
    made.add("layer0.mlp.up.weight", {2, 2}, {1, 2, 3, 4}).spec.phase = Phase::param;
    for (int rank = 0; rank < 4; ++rank) {
      made.give(rank, "layer0.mlp.up.weight", BoxPlacement{{{{0, rank % 2}, {2, 1}}}}, "dp");
    }
  }
  MadeCase made;
};

TEST(AxisTookEffect, ConformsWhenEveryAxisMovedBytesOnEveryRank) {
  AxisCase axis;

  const CaseReport report = axis.made.judge();

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
  EXPECT_EQ(result_of(report, "axis_took_effect").compared, 4 + 4 + 4);
}

TEST(AxisTookEffect, IsInconclusiveWhenARankMovedNothing) {
  AxisCase axis;
  axis.made.edit_ledgers = [](int rank, Ledgers& ledgers) {
    if (rank == 3) {
      ledgers.collectives[0].bytes = 0;  // dp
    }
  };

  const CaseReport report = axis.made.judge();

  EXPECT_EQ(result_of(report, "axis_took_effect").verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report),
              HasSubstr("dp 2 but rank 3 (dp1 tp1) moved no byte in its dp group"));
}

// Rank 1 of dp2-tp2 talks along tp with 0, not with 2.
TEST(AxisTookEffect, DoesNotCountAGroupOfOtherRanks) {
  AxisCase axis;
  axis.made.edit_ledgers = [](int rank, Ledgers& ledgers) {
    if (rank == 1) {
      ledgers.collectives[1].group = "1 2";
    }
  };

  const CaseReport report = axis.made.judge();

  EXPECT_EQ(result_of(report, "axis_took_effect").verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report), HasSubstr("tp 2 but rank 1 (dp0 tp1) moved no byte"));
}

TEST(AxisTookEffect, CountsAGroupOverSeveralAxesForEachOfThem) {
  AxisCase axis;
  axis.made.edit_ledgers = [](int, Ledgers& ledgers) {
    ledgers.collectives.resize(1);
    ledgers.collectives[0].axis = "dp,tp";
    ledgers.collectives[0].group = "0 1 2 3";
  };

  EXPECT_EQ(axis.made.judge().verdict, Verdict::conforms);
}

TEST(AxisTookEffect, IsInconclusiveWhenAWeightIsNotSharded) {
  MadeCase made("gpt-tiny.tp2.sgd-steps1.fp64.host-threads");
  made.add("layer0.mlp.up.weight", {2, 2}, {1, 2, 3, 4}).spec.phase = Phase::param;
  for (int rank = 0; rank < 2; ++rank) {
    made.give(rank, "layer0.mlp.up.weight", whole(std::vector<std::int64_t>{2, 2}), "tp");
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report),
              HasSubstr("tp 2 but rank 0 (tp0) holds all 4 elements of layer0.mlp.up.weight"));
}

/// Two samples of two tokens, one wide, with sp on tp2; rank 0 holds the first `rows` of the four.
CaseReport cut_by_rows(std::int64_t rows) {
  MadeCase made("gpt-tiny.tp2.sp-sgd-steps1.fp64.host-threads");
  made.add("layer0.in", {2, 2, 1}, {1, 2, 3, 4});
  if (rows == 4) {
    for (int rank = 0; rank < 2; ++rank) {
      made.give(rank, "layer0.in", whole(std::vector<std::int64_t>{2, 2, 1}), "tp");
    }
  } else {
    made.give(0, "layer0.in", BoxPlacement{{{{0, 0, 0}, {1, 2, 1}}, {{1, 0, 0}, {1, 1, 1}}}});
    made.give(1, "layer0.in", BoxPlacement{{{{1, 1, 0}, {1, 1, 1}}}});
  }
  return made.judge();
}

TEST(AxisTookEffect, SequenceParallelismHoldsAPartOfTheRowsInSeveralBoxes) {
  const CaseReport report = cut_by_rows(3);

  EXPECT_EQ(report.verdict, Verdict::conforms) << findings_text(report);
}

TEST(AxisTookEffect, IsInconclusiveWhenSequenceParallelismCutsNoRows) {
  const CaseReport report = cut_by_rows(4);

  EXPECT_EQ(report.verdict, Verdict::inconclusive);
  EXPECT_THAT(findings_text(report),
              HasSubstr("sp but rank 0 (tp0) holds all 4 elements of its replica's layer0.in"));
}

TEST(AxisTookEffect, HasNothingToSayOfASingleRank) {
  MadeCase made("gpt-tiny.single.sgd-steps1.fp64.host-threads");
  made.add("x", {1}, {1});
  made.give(0, "x", whole(std::vector<std::int64_t>{1}));

  EXPECT_FALSE(result_of(made.judge(), "axis_took_effect").evidence);
}

}  // namespace
}  // namespace meshparity
