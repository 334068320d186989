#include "parallel_impl/model/placement.hpp"

#include <gtest/gtest.h>

#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {
namespace {

TEST(TpState, TellsReplicatedShardedAndPartialApart) {
  EXPECT_EQ(shard(1), shard(1));
  EXPECT_NE(shard(1), shard(0));
  EXPECT_NE(shard(1), rep());
  EXPECT_NE(rep(), part());
}

TEST(TpStateDeathTest, ALayerRefusesATensorInAnotherState) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  double value = 0;
  const Tensor<double> partial = {&value, 1, 1, part()};

  EXPECT_DEATH(partial.demand(rep()), "tp == state");
}

TEST(Tensor, SeesABufferAsRowsOfEqualLength) {
  const std::unique_ptr<Backend<double>> backend = make_host_backend<double>();
  Buffer<double> buffer(*backend, MemoryTag::buffer, 6);

  const Tensor<double> matrix = matrix_in(buffer, 2, shard(1));

  EXPECT_EQ(matrix.columns, 3);
  EXPECT_EQ(matrix.count(), 6);
  matrix.demand(shard(1));
}

TEST(RowShare, FirstRanksHoldOneMoreWhereTheRowsDoNotDivide) {
  EXPECT_EQ(row_share(5, 3, 0), (RowRange{0, 2}));
  EXPECT_EQ(row_share(5, 3, 1), (RowRange{2, 2}));
  EXPECT_EQ(row_share(5, 3, 2), (RowRange{4, 1}));
  EXPECT_EQ(row_share(6, 3, 2), (RowRange{4, 2}));
}

TEST(RowShare, MoreRanksThanRowsLeaveTheLastWithNone) {
  EXPECT_EQ(row_share(2, 3, 1), (RowRange{1, 1}));
  EXPECT_EQ(row_share(2, 3, 2), (RowRange{2, 0}));
}

}  // namespace
}  // namespace meshparity
