#include "reference/companion_sums.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "reference/micro_case.hpp"

namespace meshparity::reference {
namespace {

RecordSpec record_of(std::vector<std::int64_t> shape, int row_dims) {
  RecordSpec record;
  record.name = "logits";
  record.shape = std::move(shape);
  record.row_dims = row_dims;
  return record;
}

// D_0 = (1, 0), D_1 = (0, 2): |D|^2 is 5/2 in the mean, <D_0, D_1> = 0, so every element is a
// direction of its own. ref = (2, 1): |ref|^2 = 5.
TEST(CompanionSums, SummariseTwoUnlikeReplicas) {
  CompanionSums sums(2);
  const std::vector<double> ref = {2, 1};
  const Matrix deviations = matrix({{1, 0}, {0, 2}});
  std::vector<float> s2(2);

  sums.add(deviations, ref);
  mean_squares(deviations, s2);
  const Companion companion = sums.finish(record_of({1, 2}, 1), 3, s2);

  EXPECT_EQ(companion.record, "logits");
  EXPECT_EQ(companion.step, 3);
  EXPECT_EQ(companion.samples, 2);
  EXPECT_EQ(companion.s2, (std::vector<float>{0.5F, 2}));
  EXPECT_EQ(companion.total, 1.25);
  EXPECT_EQ(companion.effective, 2);
  EXPECT_EQ(companion.g, (std::vector<double>{0.4, 0.4}));
}

TEST(CompanionSums, ReplicasThatDeviateAlikeHaveOneDirection) {
  CompanionSums sums(3);
  sums.add(matrix({{1, 2, 3}, {1, 2, 3}, {-1, -2, -3}}), std::vector<double>{1, 1, 1});
  EXPECT_EQ(sums.finish(record_of({3}, 0), 0, {}).effective, 1);
}

// |D_k|^2 = 2; <D_0, D_1> = <D_1, D_2> = 1 and <D_0, D_2> = 0: mean of squares 4/6, 4 / (4/6) = 6
// is more than the 4 elements there are.
TEST(CompanionSums, DirectionsAreAtMostTheElements) {
  CompanionSums sums(3);
  sums.add(matrix({{1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}}), std::vector<double>(4, 1));
  EXPECT_EQ(sums.finish(record_of({2, 2}, 1), 0, {}).effective, 4);
}

// |D_k|^2 = 3, <D_k, D_l> = 2 for all pairs: 9 / 4.
TEST(CompanionSums, DirectionsBetweenOneAndAll) {
  CompanionSums sums(3);
  sums.add(matrix({{1, 1, 1, 0, 0}, {1, 1, 0, 1, 0}, {1, 1, 0, 0, 1}}), std::vector<double>(5, 1));
  EXPECT_EQ(sums.finish(record_of({5}, 0), 0, {}).effective, 2.25);
}

TEST(CompanionSums, PartsAddUpToTheWhole) {
  const Matrix deviations = matrix({{1, 2, 3, 5}, {2, -1, 4, 1}});
  const std::vector<double> ref = {1, 2, -3, 4};
  CompanionSums whole(2);
  CompanionSums first(2);
  CompanionSums second(2);

  whole.add(deviations, ref);
  first.add(deviations.leftCols(1), std::span(ref).first(1));
  second.add(deviations.rightCols(3), std::span(ref).last(3));
  first.add(second);

  const Companion expected = whole.finish(record_of({4}, 0), 0, {});
  const Companion found = first.finish(record_of({4}, 0), 0, {});
  EXPECT_EQ(found.total, expected.total);
  EXPECT_EQ(found.effective, expected.effective);
  EXPECT_EQ(found.g, expected.g);
}

TEST(CompanionSums, RowsAndColumnsAreThoseOfTheRecordsView) {
  const CompanionSums sums(2);
  const Companion heads = sums.finish(record_of({4, 5, 3, 2}, 2), 0, {});
  EXPECT_EQ(heads.rows, 20);
  EXPECT_EQ(heads.columns, 6);
  const Companion vector = sums.finish(record_of({7}, 0), 0, {});
  EXPECT_EQ(vector.rows, 1);
  EXPECT_EQ(vector.columns, 7);
}

TEST(CompanionSums, WithoutDeviationAllIsZero) {
  CompanionSums sums(2);
  sums.add(Matrix::Zero(2, 3), std::vector<double>(3, 0));
  const Companion companion = sums.finish(record_of({3}, 0), 0, {});
  EXPECT_EQ(companion.total, 0);
  EXPECT_EQ(companion.effective, 1);
  EXPECT_EQ(companion.g, (std::vector<double>{0, 0}));
}

TEST(CompanionSums, ADeviationBelowFloat32IsNotCalledZero) {
  std::vector<float> s2(2, 7);
  mean_squares(matrix({{1e-30, 0}, {1e-30, 0}}), s2);
  EXPECT_EQ(s2[0], std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(s2[1], 0);
}

}  // namespace
}  // namespace meshparity::reference
