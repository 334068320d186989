#include "matrix/assemble.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace meshparity {
namespace {

using Runs = std::vector<Run>;

PlacedPiece piece_of(int rank, std::vector<Run> runs) {
  return {rank, nullptr, std::move(runs)};
}

TEST(Coverage, AcceptsPiecesInAnyOrderThatCoverOnce) {
  const PlacedPiece late = piece_of(0, {{4, 4}, {0, 2}});
  const PlacedPiece early = piece_of(1, {{2, 2}});

  EXPECT_FALSE(first_violation({{}, {&late, &early}}, 8, {}).has_value());
}

TEST(Coverage, NamesTheFirstHoleAndItsLength) {
  const PlacedPiece low = piece_of(0, {{0, 2}});
  const PlacedPiece high = piece_of(1, {{5, 3}});

  const auto hole = first_violation({{}, {&low, &high}}, 10, {});

  ASSERT_TRUE(hole.has_value());
  EXPECT_EQ(hole->kind, Violation::Kind::hole);
  EXPECT_EQ(hole->element, 2);
  EXPECT_EQ(hole->count, 3);
}

TEST(Coverage, SeesAHoleAtTheEndAndACopyWithoutPieces) {
  const PlacedPiece low = piece_of(0, {{0, 7}});

  EXPECT_EQ(first_violation({{}, {&low}}, 8, {})->element, 7);
  EXPECT_EQ(first_violation({{}, {}}, 8, {})->count, 8);
}

TEST(Coverage, NamesBothPiecesOfAnOverlap) {
  const PlacedPiece low = piece_of(3, {{0, 5}});
  const PlacedPiece high = piece_of(7, {{4, 4}});

  const auto overlap = first_violation({{}, {&high, &low}}, 8, {});

  ASSERT_TRUE(overlap.has_value());
  EXPECT_EQ(overlap->kind, Violation::Kind::overlap);
  EXPECT_EQ(overlap->element, 4);
  EXPECT_EQ(overlap->count, 1);
  EXPECT_EQ(overlap->first->rank, 3);
  EXPECT_EQ(overlap->second->rank, 7);
}

TEST(Coverage, SeesAPieceThatHoldsAnElementTwice) {
  const PlacedPiece twice = piece_of(0, {{0, 3}, {1, 1}, {3, 1}});

  EXPECT_EQ(first_violation({{}, {&twice}}, 4, {})->element, 1);
}

TEST(Coverage, DemandsOnlyWhatTheMaskDemands) {
  const PlacedPiece low = piece_of(0, {{0, 2}});
  const std::vector<std::uint8_t> dropped{1, 1, 0, 0};
  const std::vector<std::uint8_t> kept{1, 1, 0, 1};

  EXPECT_FALSE(first_violation({{}, {&low}}, 4, dropped).has_value());
  EXPECT_EQ(first_violation({{}, {&low}}, 4, kept)->element, 3);
}

// 5,000 rows in two stripes, rank r holding every row with row % 2 == r.
TEST(Coverage, StripedRowsCoverOnceUntilOneIsMissing) {
  PlacedPiece even = piece_of(0, {});
  PlacedPiece odd = piece_of(1, {});
  for (std::int64_t row = 0; row < 5000; ++row) {
    (row % 2 == 0 ? even : odd).runs.push_back({row * 3, 3});
  }

  EXPECT_FALSE(first_violation({{}, {&even, &odd}}, 15000, {}).has_value());

  odd.runs.erase(odd.runs.begin() + 1200);  // row 2401
  EXPECT_EQ(first_violation({{}, {&even, &odd}}, 15000, {})->element, 2401 * 3);
}

TEST(Assemble, PlacesValuesByTheirRunsAndFindsTheirOwner) {
  const PlacedPiece piece = piece_of(2, {{4, 2}, {0, 1}});
  const std::vector<double> values{7, 8, 9};
  std::vector<double> record(6, 0.0);

  place_values<double>(piece.runs, values, record);

  EXPECT_EQ(record, (std::vector<double>{9, 0, 0, 0, 7, 8}));
  EXPECT_EQ(owner_of({{}, {&piece}}, 0)->place, 2);
  EXPECT_FALSE(owner_of({{}, {&piece}}, 1).has_value());
}

TEST(Assemble, ComparesCopiesBitForBit) {
  const Runs runs{{2, 2}, {0, 1}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> record{0.0, 1, nan, 3};

  const auto compare = [&](const std::vector<double>& piece) {
    return first_unequal_bits<double>(runs, piece, record);
  };

  EXPECT_FALSE(compare({nan, 3, 0.0}).has_value());  // equal bits, even of NaN
  EXPECT_EQ(compare({nan, 3, -0.0}), 0);
  EXPECT_EQ(compare({-nan, 3, 0.0}), 2);
  EXPECT_EQ(compare({nan, 4, 1.0}), 0);  // the least element, though it comes last in the piece
}

}  // namespace
}  // namespace meshparity
