#include "matrix/payload_noise.hpp"

#include <gtest/gtest.h>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

Companion companion(std::vector<float> s2, double effective, std::vector<double> g) {
  Companion made;
  made.record = "x";
  made.rows = 1;
  made.columns = std::ssize(s2);
  made.samples = static_cast<int>(g.size());
  for (const float value : s2) {
    made.total += value / static_cast<double>(s2.size());
  }
  made.s2 = std::move(s2);
  made.effective = effective;
  made.g = std::move(g);
  return made;
}

// In units of 1/4 a variance of 1 is 16.
TEST(PayloadNoise, VariancesAddInTheUnitsOfTheLane) {
  const Companion both =
      with_payload(companion({3, 0}, 2, {1, 1}), companion({1, 0}, 1, {0.5, -2}), 0.25);
  EXPECT_EQ(both.s2, (std::vector<float>{19, 0}));
  EXPECT_EQ(both.total, 9.5);
  EXPECT_EQ(both.g, (std::vector<double>{3, -7}));
}

// Inner products of runs: 1.5^2/3 + 4.5^2/9 = 3, and (1.5 + 4.5)^2/3 = 12 directions.
TEST(PayloadNoise, DirectionsAreThoseOfBothNoises) {
  const Companion both = with_payload(companion({1.5}, 3, {0}), companion({4.5}, 9, {0}), 1);
  EXPECT_DOUBLE_EQ(both.effective, 12);
  const Companion alone = with_payload(companion({0}, 1, {0}), companion({4.5}, 9, {0}), 1);
  EXPECT_DOUBLE_EQ(alone.effective, 9);
}

TEST(PayloadNoise, WithoutAnyTheCompanionIsTheLanesOwn) {
  const Companion both = with_payload(companion({2}, 1, {1}), companion({0}, 1, {0}), 0x1p-29);
  EXPECT_EQ(both.s2, std::vector<float>{2});
  EXPECT_EQ(both.effective, 1);
}

TEST(PayloadNoise, UnlikeShapesAreRefused) {
  EXPECT_THROW(with_payload(companion({2}, 1, {1}), companion({1, 1}, 1, {0}), 1), Error);
}

}  // namespace
}  // namespace meshparity
