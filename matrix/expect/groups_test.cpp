#include "matrix/expect/groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace meshparity::expect {
namespace {

using Ranks = std::vector<int>;

CaseSpec spec_of(int dp, int tp, int pp, int cp) {
  CaseSpec spec;
  spec.mesh = MeshShape({dp, tp, pp, cp, 1, 1});
  return spec;
}

Ranks along(const CaseSpec& spec, int rank, std::vector<Axis> axes) {
  return group_along(spec, rank, axes).ranks;
}

// Order dp-tp-...: dp is fastest, rank = dp + 2 tp. Along tp rank 1 meets 1, 3, 5; along both axes
// the ranks of dp 0 come first, though their numbers are not the least.
TEST(ExpectedGroup, StandsInCoordinateOrderWhateverTheRanksNumbers) {
  CaseSpec spec = spec_of(2, 3, 1, 1);
  spec.order = {Axis::dp, Axis::tp, Axis::cp, Axis::ep, Axis::pp};

  EXPECT_EQ(along(spec, 1, {Axis::tp}), (Ranks{1, 3, 5}));
  EXPECT_EQ(along(spec, 4, {Axis::tp, Axis::dp}), (Ranks{0, 2, 4, 1, 3, 5}));
}

// P=16, t=2, c=2, D=2, p=2, rank = tp + 2 cp + 4 dp + 8 pp: along pp and dp, dp is the slower.
TEST(ExpectedGroup, HasDpSlowestThenCpThenPp) {
  const CaseSpec spec = spec_of(2, 2, 2, 2);

  EXPECT_EQ(along(spec, 0, {Axis::pp, Axis::dp}), (Ranks{0, 8, 4, 12}));
  EXPECT_EQ(along(spec, 0, {Axis::dp, Axis::cp}), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(along(spec, 3, {Axis::tp, Axis::cp}), (Ranks{0, 1, 2, 3}));
  const std::array both = {Axis::cp, Axis::dp};
  EXPECT_EQ(group_along(spec, 0, both).axes, "dp,cp");
}

// Every order of five axes: a group has each of its coordinates once, and the same ranks in the
// same order from each member's side.
TEST(ExpectedGroup, IsTheSameForEachOfItsMembersInEveryRankOrder) {
  CaseSpec spec = spec_of(2, 3, 2, 2);
  std::sort(spec.order.begin(), spec.order.end());
  int orders = 0;
  do {
    for (int rank = 0; rank < 24; ++rank) {
      const Ranks group = along(spec, rank, {Axis::tp, Axis::dp});
      ASSERT_EQ(group.size(), 6u);
      ASSERT_NE(std::find(group.begin(), group.end(), rank), group.end());
      ASSERT_EQ(along(spec, group.front(), {Axis::dp, Axis::tp}), group);
    }
    ++orders;
  } while (std::next_permutation(spec.order.begin(), spec.order.end()));
  EXPECT_EQ(orders, 120);
}

// Two key heads on eight ranks: four in a row share one. On two ranks each has its own.
TEST(ExpectedGroup, OfTheSameKeyHeadsIsARowOfTheTensorGroup) {
  ModelSpec model;
  model.kv_heads = 2;

  EXPECT_EQ(same_key_heads(spec_of(2, 8, 1, 1), model, 13).ranks, (Ranks{12, 13, 14, 15}));
  EXPECT_EQ(same_key_heads(spec_of(2, 8, 1, 1), model, 13).axes, "tp");
  EXPECT_EQ(same_key_heads(spec_of(1, 2, 1, 1), model, 1).ranks, (Ranks{1}));
}

TEST(ExpectedGroup, IsWrittenAsALedgerWritesIt) {
  EXPECT_EQ((Group{"dp", {0, 4, 8}}).text(), "0 4 8");
}

}  // namespace
}  // namespace meshparity::expect
