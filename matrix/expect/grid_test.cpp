#include "matrix/expect/grid.hpp"

#include <gtest/gtest.h>

#include "fixtures/error.hpp"

namespace meshparity::expect {
namespace {

CaseSpec spec_of(int dp, int tp, int pp, int cp) {
  CaseSpec spec;
  spec.mesh = MeshShape({dp, tp, pp, cp, 1, 1});
  return spec;
}

using Ranks = std::vector<int>;
const std::vector<Axis> kTp = {Axis::tp};

// algorithms.md §9.1: P=16, t=2, c=2, D=2, p=2: rank = tp + 2 cp + 4 dp + 8 pp.
TEST(ExpectedGrid, FollowsTheWorkedExampleOfTheDenseGrid) {
  const CaseSpec spec = spec_of(2, 2, 2, 2);

  EXPECT_EQ(place_of(spec, 13).dense, (Place{1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(peers(spec, 0, kTp), (Ranks{0, 1}));
  EXPECT_EQ(peers(spec, 0, std::vector<Axis>{Axis::cp}), (Ranks{0, 2}));
  EXPECT_EQ(peers(spec, 0, std::vector<Axis>{Axis::dp}), (Ranks{0, 4}));
  EXPECT_EQ(peers(spec, 0, std::vector<Axis>{Axis::dp, Axis::cp}), (Ranks{0, 2, 4, 6}));
  EXPECT_EQ(peers(spec, 0, std::vector<Axis>{Axis::tp, Axis::pp}), (Ranks{0, 1, 8, 9}));
}

// The same example's experts: e=2, ETP=2 gives EP {0,2}; e=4, ETP=1 gives EP {0,1,2,3}.
TEST(ExpectedGrid, FollowsTheWorkedExampleOfTheExpertGrid) {
  CaseSpec two = spec_of(2, 2, 2, 2);
  two.mesh = MeshShape({2, 2, 2, 2, 2, 2});
  CaseSpec four = two;
  four.mesh = MeshShape({2, 2, 2, 2, 4, 1});

  EXPECT_EQ(peers(two, 0, std::vector<Axis>{Axis::ep}), (Ranks{0, 2}));
  EXPECT_EQ(peers(two, 0, std::vector<Axis>{Axis::etp}), (Ranks{0, 1}));
  EXPECT_EQ(peers(four, 0, std::vector<Axis>{Axis::ep}), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(place_of(two, 4).expert[static_cast<std::size_t>(Axis::dp)], 1);
}

// Order dp-tp-...: dp is fastest, so rank 1 of dp2-tp3 is dp1 tp0.
TEST(ExpectedGrid, ObeysAnotherRankOrder) {
  CaseSpec spec = spec_of(2, 3, 1, 1);
  EXPECT_EQ(place_text(spec, 1), "dp0 tp1");

  spec.order = {Axis::dp, Axis::tp, Axis::cp, Axis::ep, Axis::pp};

  EXPECT_EQ(place_text(spec, 1), "dp1 tp0");
  EXPECT_EQ(peers(spec, 1, kTp), (Ranks{1, 3, 5}));
}

TEST(ExpectedGrid, ListsEveryCoordinateOnSeveralAxes) {
  const CaseSpec spec = spec_of(2, 3, 1, 1);
  const std::vector<Axis> both = axes_named("dp,tp");

  const std::vector<std::vector<int>> all = all_coordinates(spec, both);

  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.front(), (std::vector<int>{0, 0}));
  EXPECT_EQ(all.back(), (std::vector<int>{1, 2}));
  EXPECT_EQ(coordinates_on(spec, 4, both), (std::vector<int>{1, 1}));
}

TEST(ExpectedGrid, NamesNoAxisForAnEmptyTextAndRefusesUnknownWords) {
  EXPECT_TRUE(axes_named("").empty());
  EXPECT_THROW(axes_named("dp,tq"), UsageError);
  EXPECT_EQ(place_text(spec_of(1, 1, 1, 1), 0), "single");
}

}  // namespace
}  // namespace meshparity::expect
