#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/lane_team.hpp"
#include "parallel_impl/kernels/matmul.cuh"

namespace meshparity {
namespace {

TEST(Matmul, PlainAndTransposedFormsGiveTheProductByHand) {
  // [1 2 3; 4 5 6] * [1 0; 0 1; 1 1] = [4 5; 10 11]
  const std::vector<double> a = {1, 2, 3, 4, 5, 6};
  const std::vector<double> a_transposed = {1, 4, 2, 5, 3, 6};
  const std::vector<double> b = {1, 0, 0, 1, 1, 1};
  const std::vector<double> b_transposed = {1, 0, 1, 0, 1, 1};
  for (const int lanes : kLaneCounts) {
    std::vector<double> plain(4), left(4), right(4);

    LaneTeam team(lanes);
    team.run(Matmul<double>{a.data(), 3, 1, b.data(), 2, 1, plain.data(), 2, 2, 3});
    team.run(Matmul<double>{a_transposed.data(), 1, 2, b.data(), 2, 1, left.data(), 2, 2, 3});
    team.run(Matmul<double>{a.data(), 3, 1, b_transposed.data(), 1, 3, right.data(), 2, 2, 3});

    const std::vector<double> expected = {4, 5, 10, 11};
    EXPECT_EQ(plain, expected);
    EXPECT_EQ(left, expected);
    EXPECT_EQ(right, expected);
  }
}

TEST(Matmul, AddsInAscendingOrder) {
  // 2^53 + 1 ties to 2^53, twice; from the other end it would be 2^53 + 2.
  const double large = 9007199254740992.0;
  const std::vector<double> a = {large, 1, 1};
  const std::vector<double> ones = {1, 1, 1};
  double out = 0;

  LaneTeam(3).run(Matmul<double>{a.data(), 3, 1, ones.data(), 1, 1, &out, 1, 1, 3});

  EXPECT_EQ(out, large);
}

TEST(Matmul, RoundsTheProductBeforeTheSum) {
  // (1 + 2^-30)^2 rounds to 1 + 2^-29; a fused operation would leave 2^-60.
  const double x = 1 + 0x1p-30;
  const std::vector<double> a = {-(1 + 0x1p-29), x};
  const std::vector<double> b = {1, x};
  double out = 99;

  LaneTeam(1).run(Matmul<double>{a.data(), 2, 1, b.data(), 1, 1, &out, 1, 1, 2});

  EXPECT_EQ(out, 0);
}

TEST(Matmul, WithoutDepthIsZero) {
  std::vector<double> out = {99, 99};

  LaneTeam(3).run(Matmul<double>{nullptr, 0, 1, nullptr, 1, 1, out.data(), 1, 2, 0});

  EXPECT_EQ(out, (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace meshparity
