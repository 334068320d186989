#include "parallel_impl/kernels/elementwise.cuh"

#include <gtest/gtest.h>

#include <vector>

#include "parallel_impl/kernels/column_sum.cuh"
#include "parallel_impl/kernels/lane_team.hpp"

namespace meshparity {
namespace {

TEST(Elementwise, BiasIsAddedToEveryRow) {
  const std::vector<double> bias = {10, 20, 30, 40, 50};
  for (const int lanes : kLaneCounts) {
    std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    LaneTeam(lanes).run(AddBias<double>{x.data(), bias.data(), 2, 5});

    EXPECT_EQ(x, (std::vector<double>{11, 22, 33, 44, 55, 16, 27, 38, 49, 60}));
  }
}

TEST(Elementwise, AddsCopiesAndScales) {
  const std::vector<double> from = {1, 2, 3, 4, 5};
  for (const int lanes : kLaneCounts) {
    std::vector<double> sum = {10, 10, 10, 10, 10, 99};
    std::vector<double> copy(6, 99);
    std::vector<double> scaled = {1, 2, 3, 4, 5, 99};
    std::vector<double> quotients = {10, 10, 10, 10, 10, 99};

    LaneTeam team(lanes);
    team.run(AddInto<double>{from.data(), sum.data(), 5});
    team.run(Copy<double>{from.data(), copy.data(), 5});
    team.run(Divide<double>{scaled.data(), 5, 2});
    team.run(AddQuotient<double>{from.data(), quotients.data(), 5, 4});

    EXPECT_EQ(sum, (std::vector<double>{11, 12, 13, 14, 15, 99}));
    EXPECT_EQ(quotients, (std::vector<double>{10.25, 10.5, 10.75, 11, 11.25, 99}));
    EXPECT_EQ(copy, (std::vector<double>{1, 2, 3, 4, 5, 99}));
    EXPECT_EQ(scaled, (std::vector<double>{0.5, 1, 1.5, 2, 2.5, 99}));
  }
}

TEST(ColumnSum, AddsRowsInAscendingOrder) {
  const double large = 9007199254740992.0;  // 2^53: adding 1 twice leaves it
  const std::vector<double> x = {large, 1, 2, 1, 10, 20, 1, 100, 200};
  for (const int lanes : kLaneCounts) {
    std::vector<double> out(3, 99);

    LaneTeam(lanes).run(ColumnSum<double>{x.data(), out.data(), 3, 3});

    EXPECT_EQ(out, (std::vector<double>{large, 111, 222}));
  }
}

TEST(ColumnSum, CoversMoreColumnsThanABlockHolds) {
  const int width = kChunk + 5;
  const std::vector<double> x(static_cast<std::size_t>(2 * width), 1.5);
  std::vector<double> out(static_cast<std::size_t>(width));

  LaneTeam(3).run(ColumnSum<double>{x.data(), out.data(), 2, width});

  EXPECT_EQ(out, std::vector<double>(static_cast<std::size_t>(width), 3));
}

}  // namespace
}  // namespace meshparity
