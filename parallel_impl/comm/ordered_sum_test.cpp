#include "parallel_impl/comm/ordered_sum.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace meshparity {
namespace {

template <class T>
std::vector<T> reduced(const std::vector<std::vector<T>>& ranks, ReduceOp op, std::int64_t first,
                       std::int64_t count) {
  std::vector<const std::byte*> inputs;
  for (const std::vector<T>& values : ranks) {
    inputs.push_back(reinterpret_cast<const std::byte*>(values.data()));
  }
  std::vector<T> out(static_cast<std::size_t>(count));
  reduce_in_order({inputs, first, count, element_type<T>(), op},
                  reinterpret_cast<std::byte*>(out.data()));
  return out;
}

// 2^53 is odd-spaced by 2: (2^53 + 1) + 1 stays 2^53, 1 + 1 + 2^53 is 2^53 + 2.
constexpr double kBig = 9007199254740992.0;

TEST(OrderedSum, AddsFromTheFirstRankToTheLast) {
  EXPECT_EQ(reduced<double>({{kBig}, {1}, {1}}, ReduceOp::sum, 0, 1), std::vector<double>{kBig});
  EXPECT_EQ(reduced<double>({{1}, {1}, {kBig}}, ReduceOp::sum, 0, 1),
            std::vector<double>{kBig + 2});
}

TEST(OrderedSum, KeepsOneOrderForEveryElementOfALongBuffer) {
  constexpr std::int64_t kLong = 5003;  // no block size divides it
  const std::vector<double> big(kLong, kBig);
  const std::vector<double> one(kLong, 1.0);

  const std::vector<double> sum = reduced<double>({big, one, one, one}, ReduceOp::sum, 0, kLong);

  EXPECT_EQ(sum, big);
}

TEST(OrderedSum, ReadsOnlyTheRangeAskedFor) {
  EXPECT_EQ(reduced<float>({{1, 2, 3, 4}, {10, 20, 30, 40}}, ReduceOp::sum, 1, 2),
            (std::vector<float>{22, 33}));
  EXPECT_TRUE(reduced<float>({{1}, {2}}, ReduceOp::sum, 1, 0).empty());
}

TEST(OrderedSum, TakesTheGreatestAndLetsNoNaNDisappear) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double least = -std::numeric_limits<double>::infinity();

  const std::vector<double> greatest = reduced<double>(
      {{1, nan, 3, least}, {2, 5, nan, least}, {-4, 6, 7, -8}}, ReduceOp::max, 0, 4);

  EXPECT_EQ(greatest[0], 2);
  EXPECT_TRUE(std::isnan(greatest[1]));
  EXPECT_TRUE(std::isnan(greatest[2]));
  EXPECT_EQ(greatest[3], -8);
}

TEST(OrderedSum, WrapsIntegersOfEveryType) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(reduced<std::int64_t>({{most, -5}, {1, 7}}, ReduceOp::sum, 0, 2),
            (std::vector<std::int64_t>{least, 2}));
  EXPECT_EQ(reduced<std::int32_t>({{2147483647}, {1}}, ReduceOp::sum, 0, 1),
            (std::vector<std::int32_t>{-2147483647 - 1}));
  EXPECT_EQ(reduced<std::uint8_t>({{200}, {100}}, ReduceOp::sum, 0, 1),
            (std::vector<std::uint8_t>{44}));
  EXPECT_EQ(reduced<std::int32_t>({{-3}, {-1}, {-2}}, ReduceOp::max, 0, 1),
            (std::vector<std::int32_t>{-1}));
}

}  // namespace
}  // namespace meshparity
