#include "parallel_impl/model/activation_records.hpp"

#include <gtest/gtest.h>

namespace meshparity {
namespace {

/// Samples 6 to 8 of the step, 5 tokens each; rows are 4 wide.
const BatchPlace kPlace = {.step = 0, .mb = 1, .first_sample = 6, .samples = 3, .sequence = 5};
const Box kWhole = {{0}, {4}};

TEST(RowBoxes, AllRowsAreOneBox) {
  EXPECT_EQ(row_boxes(kPlace, {0, 15}, kWhole), (std::vector<Box>{{{6, 0, 0}, {3, 5, 4}}}));
}

TEST(RowBoxes, TheRestOfASampleThenWholeOnesThenABeginning) {
  EXPECT_EQ(
      row_boxes(kPlace, {3, 9}, kWhole),
      (std::vector<Box>{{{6, 3, 0}, {1, 2, 4}}, {{7, 0, 0}, {1, 5, 4}}, {{8, 0, 0}, {1, 2, 4}}}));
}

TEST(RowBoxes, AnInnerPieceOfOneSampleIsOneBox) {
  EXPECT_EQ(row_boxes(kPlace, {6, 3}, kWhole), (std::vector<Box>{{{7, 1, 0}, {1, 3, 4}}}));
}

TEST(RowBoxes, FurtherDimsKeepTheirPlace) {
  EXPECT_EQ(row_boxes(kPlace, {10, 5}, {{2, 0}, {1, 4}}),
            (std::vector<Box>{{{8, 0, 2, 0}, {1, 5, 1, 4}}}));
}

TEST(RowBoxes, NoRowsAreABoxWithoutElements) {
  const std::vector<Box> boxes = row_boxes(kPlace, {15, 0}, kWhole);

  ASSERT_EQ(boxes.size(), 1u);
  EXPECT_EQ(element_count(boxes[0]), 0);
}

}  // namespace
}  // namespace meshparity
