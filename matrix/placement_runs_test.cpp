#include "matrix/placement_runs.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace meshparity {
namespace {

using Runs = std::vector<Run>;

TEST(PlacementRuns, AWholeRecordIsOneRun) {
  const Shape shape{3, 4, 5};

  EXPECT_EQ(placement_runs(whole(shape), shape), (Runs{{0, 60}}));
}

// Columns 1 and 2 of a 3 x 4 record.
TEST(PlacementRuns, AColumnSliceIsOneRunARow) {
  const Placement columns = BoxPlacement{{{{0, 1}, {3, 2}}}};

  EXPECT_EQ(placement_runs(columns, Shape{3, 4}), (Runs{{1, 2}, {5, 2}, {9, 2}}));
}

TEST(PlacementRuns, TwoBoxesAreConcatenatedInTheirOrder) {
  const Placement zigzag = BoxPlacement{{{{6}, {2}}, {{0}, {2}}}};

  EXPECT_EQ(placement_runs(zigzag, Shape{8}), (Runs{{6, 2}, {0, 2}}));
}

// Box [1:3, :, 1:2] of a 3 x 2 x 2 record: rows 1 and 2, feature 1.
TEST(PlacementRuns, ABoxOfThreeDimsWalksItsOuterDimsInOrder) {
  const Placement box = BoxPlacement{{{{1, 0, 1}, {2, 2, 1}}}};

  EXPECT_EQ(placement_runs(box, Shape{3, 2, 2}), (Runs{{5, 1}, {7, 1}, {9, 1}, {11, 1}}));
}

TEST(PlacementRuns, ListedRowsKeepTheirOrderAndNeighboursMerge) {
  const Placement rows = RowsPlacement{{{0, 0}, {3, 2}}, 0, {4, 1, 2}};

  EXPECT_EQ(placement_runs(rows, Shape{5, 2}), (Runs{{8, 2}, {2, 4}}));
}

// Dim 1 of [2, 4, 2] takes rows 3 and 0: row-major over the box, so both rows of plane 0 first.
TEST(PlacementRuns, ListedRowsOfAnInnerDimRepeatForEachOuterIndex) {
  const Placement rows = RowsPlacement{{{0, 0, 0}, {2, 2, 2}}, 1, {3, 0}};

  EXPECT_EQ(placement_runs(rows, Shape{2, 4, 2}), (Runs{{6, 2}, {0, 2}, {14, 2}, {8, 2}}));
}

// Listed rows behind which the last dim is cut: rows 2 and 0, column 1 of 3 x 2.
TEST(PlacementRuns, ListedRowsWithACutLastDim) {
  const Placement rows = RowsPlacement{{{0, 1}, {2, 1}}, 0, {2, 0}};

  EXPECT_EQ(placement_runs(rows, Shape{3, 2}), (Runs{{5, 1}, {1, 1}}));
}

// The shard [1, 5) of columns 2, 3 of a 4 x 4 record, whose order is 2 3 6 7 10 11 14 15.
TEST(PlacementRuns, AFlatShardOfABoxCutsThroughItsRows) {
  const Placement flat = FlatPlacement{{{0, 2}, {4, 2}}, 1, 5};

  EXPECT_EQ(placement_runs(flat, Shape{4, 4}), (Runs{{3, 1}, {6, 2}, {10, 1}}));
}

TEST(PlacementRuns, AnEmptyPieceHasNoRuns) {
  EXPECT_TRUE(placement_runs(BoxPlacement{{{{0, 4}, {3, 0}}}}, Shape{3, 4}).empty());
  EXPECT_TRUE(placement_runs(FlatPlacement{{{0}, {4}}, 2, 2}, Shape{4}).empty());
  EXPECT_TRUE(placement_runs(RowsPlacement{{{0, 0}, {0, 2}}, 0, {}}, Shape{3, 2}).empty());
}

TEST(PlacementRuns, FindsAnElementInThePieceAndBack) {
  const Runs runs{{8, 2}, {2, 4}};

  EXPECT_EQ(place_in_runs(runs, 9), 1);
  EXPECT_EQ(place_in_runs(runs, 5), 5);
  EXPECT_EQ(place_in_runs(runs, 6), -1);
  EXPECT_EQ(element_of_runs(runs, 5), 5);
  EXPECT_EQ(element_of_runs(runs, 0), 8);
}

TEST(PlacementFault, NamesTheDimAndTheRange) {
  EXPECT_EQ(placement_fault(BoxPlacement{{{{0, 3}, {3, 2}}}}, Shape{3, 4}),
            "dim 1: the box [3, 5) leaves the record's [0, 4)");
  EXPECT_EQ(placement_fault(BoxPlacement{{{{0}, {3}}}}, Shape{3, 4}),
            "a box of 1 dims in a record of 2");
  EXPECT_EQ(placement_fault(RowsPlacement{{{0}, {2}}, 0, {1, 7}}, Shape{7}),
            "dim 0: row 7 is outside [0, 7)");
  EXPECT_EQ(placement_fault(FlatPlacement{{{0}, {4}}, 2, 5}, Shape{4}),
            "the flat range [2, 5) leaves its box of 4 elements");
  EXPECT_EQ(placement_fault(FlatPlacement{{{0}, {4}}, 2, 4}, Shape{4}), std::nullopt);
  EXPECT_EQ(placement_fault(RowsPlacement{{{0}, {3}}, 0, {1, 2}}, Shape{7}),
            "dim 0: 2 rows for an extent of 3");
}

TEST(PlacementFault, RefusesABoxWhoseEndOverflows) {
  const std::int64_t huge = INT64_MAX;

  EXPECT_TRUE(placement_fault(BoxPlacement{{{{1}, {huge}}}}, Shape{4}).has_value());
}

TEST(Index, IsRowMajor) {
  EXPECT_EQ(index_of(17, Shape{3, 2, 4}), (Shape{2, 0, 1}));
  EXPECT_EQ(index_text(Shape{2, 0, 1}), "[2, 0, 1]");
  EXPECT_EQ(elements_of(Shape{3, 2, 4}), 24);
}

}  // namespace
}  // namespace meshparity
