#include "parallel_impl/comm/planted_group.hpp"

#include <gtest/gtest.h>

#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

using Ranks = std::vector<int>;

TEST(PlantedGroup, OfEveryoneHasAllRanksAscendingAndKeepsThisRanksPlace) {
  const CommGroup group = everyone_with(group_of({1, 3}, 3), 4);
  EXPECT_EQ(group.ranks, (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(group.index, 3);
  EXPECT_EQ(group.axis, "tp");
}

TEST(PlantedGroup, HalvesOfThreeRanksAreOneAndTwo) {
  EXPECT_EQ(half_of(group_of({2, 5, 8}, 2)).ranks, Ranks{2});
  EXPECT_EQ(half_of(group_of({2, 5, 8}, 5)).ranks, (Ranks{5, 8}));
  EXPECT_EQ(half_of(group_of({2, 5, 8}, 8)).index, 1);
}

TEST(PlantedGroup, CrosswiseItHoldsTheOtherAxisOfTheMesh) {
  EXPECT_EQ(crosswise_to(group_of({2, 3}, 3), 6).ranks, (Ranks{1, 3, 5}));
  EXPECT_EQ(crosswise_to(group_of({1, 3, 5}, 3), 6).ranks, (Ranks{2, 3}));
  EXPECT_EQ(crosswise_to(group_of({1, 3, 5}, 3), 6).index, 1);
  EXPECT_EQ(crosswise_to(group_of({0, 1}, 1), 2).ranks, Ranks{1});
}

TEST(PlantedGroup, ReorderedRanksStandByTheirNumberModuloTheSize) {
  EXPECT_EQ(reordered(group_of({4, 5, 6, 7}, 5)).ranks, (Ranks{4, 5, 6, 7}));
  const CommGroup group = reordered(group_of({1, 3, 5, 7}, 3));
  EXPECT_EQ(group.ranks, (Ranks{1, 5, 3, 7}));
  EXPECT_EQ(group.index, 2);
}

}  // namespace
}  // namespace meshparity
