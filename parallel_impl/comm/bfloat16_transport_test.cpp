// Sums of bfloat16 on every transport: added in a wider type in the order of the ranks, rounded
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "parallel_impl/comm/transport_suite.hpp"

namespace meshparity {
namespace {

using testing::Each;
using testing::IsEmpty;

std::vector<Bfloat16> words(const std::vector<float>& values) {
  std::vector<Bfloat16> held;
  for (const float value : values) {
    held.push_back(rounded_to_bfloat16(value));
  }
  return held;
}

std::vector<float> numbers(std::span<const Bfloat16> held) {
  std::vector<float> values;
  for (const Bfloat16 value : held) {
    values.push_back(widened(value));
  }
  return values;
}

Payload payload(std::vector<Bfloat16>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), std::ssize(values), ElementType::bfloat16};
}

std::vector<float> sum_of(Comm& comm, const std::vector<float>& own, ElementType accumulator) {
  std::vector<Bfloat16> values = words(own);
  Collective request;
  request.kind = CollectiveKind::all_reduce;
  request.group = everyone(comm);
  request.input = request.output = payload(values);
  request.accumulator = accumulator;
  request.site = site_of("sum");
  comm.carry_out(request);
  return numbers(values);
}

// Between 256 and 512 bfloat16 counts by twos: 256 + 1 + 1 is 258 where the sum is wider, and 256
// where each addition is rounded (257 is a tie). 2^24 + 2^16 is a tie as well; float loses the 1
// that would decide it.
TEST_P(Transport, ASumOfBfloat16IsRoundedOnceAtItsEnd) {
  const auto thrown = errors(3, [](Comm& comm) {
    const std::vector<float> own = {comm.rank() == 0 ? 256.0F : 1.0F};
    EXPECT_EQ(sum_of(comm, own, ElementType::float32), std::vector<float>{258});
    EXPECT_EQ(sum_of(comm, own, ElementType::bfloat16), std::vector<float>{256});
    const std::vector<float> tie = {comm.rank() == 0 ? 0x1p24F : comm.rank() == 1 ? 0x1p16F : 1.0F};
    EXPECT_EQ(sum_of(comm, tie, ElementType::float32), std::vector<float>{0x1p24F});
    EXPECT_EQ(sum_of(comm, tie, ElementType::float64), std::vector<float>{0x1.02p24F});
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, PartsOfASumOfBfloat16AreRoundedOnceToo) {
  const auto thrown = errors(3, [](Comm& comm) {
    std::vector<Bfloat16> values = words({256, 10, 20});
    if (comm.rank() > 0) {
      values = words({1, 1, 2});
    }
    std::vector<Bfloat16> part(comm.rank() == 0 ? 1 : comm.rank() == 1 ? 0 : 2);
    comm.reduce_scatter<Bfloat16>(everyone(comm), values, part, {1, 0, 2}, site_of("scatter"));
    const std::vector<std::vector<float>> parts = {{258}, {}, {12, 24}};
    EXPECT_EQ(numbers(part), parts[static_cast<std::size_t>(comm.rank())]);
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, TheLedgerCountsTwoBytesAnElementOfBfloat16) {
  const auto thrown = errors(2, [](Comm& comm) {
    sum_of(comm, {1, 2, 3}, ElementType::float32);
    const CollectiveRow& row = comm.ledger().back();
    EXPECT_EQ(row.type, "bfloat16");
    EXPECT_EQ(row.count, 3);
    EXPECT_EQ(row.bytes, 6);
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

}  // namespace
}  // namespace meshparity
