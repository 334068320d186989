// Ranks that are threads: what only they can get wrong.
#include "parallel_impl/comm/thread_comm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

TEST(ThreadComm, WhoeverGivesUpHasMarkedTheWorldBeforeItsBuffersGo) {
  ThreadWorld world(numbered_coordinates(2));
  run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    if (rank == 0) {
      std::vector<double> values = {1};
      EXPECT_THROW(comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, site_of("x")),
                   Error);
      EXPECT_TRUE(world.first_failure().has_value());
    }
  });
  EXPECT_EQ(world.first_failure().value_or(RankFailure{}).rank, 0);
}

}  // namespace
}  // namespace meshparity
