#include "parallel_impl/kernels/bfloat16_words.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
float rounded(T value) {
  return widened(rounded_to_bfloat16(value));
}

// Neighbours of 1 are 1 - 2^-8 and 1 + 2^-7.
TEST(Bfloat16Words, ATieGoesToTheEvenNeighbour) {
  EXPECT_EQ(rounded(1.0F + 0x1p-8F), 1.0F);
  EXPECT_EQ(rounded(1.0F + 0x3p-8F), 1.0F + 0x1p-6F);
  EXPECT_EQ(rounded(1.0F + 0x1p-8F + 0x1p-20F), 1.0F + 0x1p-7F);
  EXPECT_EQ(rounded(-1.0F - 0x1p-9F), -1.0F);
  EXPECT_EQ(rounded(0x1.FFp127F), kInf);
  EXPECT_EQ(rounded(-kInf), -kInf);
}

TEST(Bfloat16Words, ADoubleIsRoundedOnce) {
  EXPECT_EQ(rounded(1.0 + 0x1p-8), 1.0F);
  EXPECT_EQ(rounded(1.0 + 0x1p-8 + 0x1p-40), 1.0F + 0x1p-7F);  // float hides what is past the tie
  EXPECT_EQ(rounded(1.0 + 0x3p-8 - 0x1p-40), 1.0F + 0x1p-7F);  // and what is short of it
  EXPECT_EQ(rounded(-1.0 - 0x1p-8 - 0x1p-40), -1.0F - 0x1p-7F);
  EXPECT_EQ(rounded(0x1p-1000), 0.0F);
  EXPECT_EQ(rounded(0x1p200), kInf);
}

TEST(Bfloat16Words, NaNStaysNaNInBothWidths) {
  EXPECT_TRUE(std::isnan(rounded(__builtin_bit_cast(float, 0x7F800001U))));  // its bits are cut off
  EXPECT_TRUE(std::isnan(rounded(__builtin_bit_cast(float, 0xFFFFFFFFU))));
  EXPECT_TRUE(std::isnan(rounded(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Bfloat16Words, KernelsRoundAndWidenEveryElementAndNoMore) {
  const int count = kChunk + 3;
  const std::vector<double> from(static_cast<std::size_t>(count), 1.0 + 0x1p-7 + 0x1p-9);
  for (const int lanes : kLaneCounts) {
    std::vector<Bfloat16> words(static_cast<std::size_t>(count) + 1);
    std::vector<double> back(static_cast<std::size_t>(count) + 1, 99);

    LaneTeam team(lanes);
    team.run(RoundToBfloat16<double>{from.data(), words.data(), count});
    team.run(WidenBfloat16<double>{words.data(), back.data(), count});

    EXPECT_EQ(words.back().bits, 0);
    EXPECT_EQ(back.back(), 99);
    back.pop_back();
    EXPECT_EQ(back, std::vector<double>(static_cast<std::size_t>(count), 1.0 + 0x1p-7));
  }
}

}  // namespace
}  // namespace meshparity
