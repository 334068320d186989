// When data move, and what buffers hold between start and wait.
#include "parallel_impl/comm/pending_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "parallel_impl/comm/transport_suite.hpp"

namespace meshparity {
namespace {

using testing::Each;
using testing::IsEmpty;

Collective sum_of(std::vector<double>& values, const Comm& comm) {
  Collective sum = call_of(CollectiveKind::all_reduce, everyone(comm));
  sum.input = sum.output = doubles(values);
  return sum;
}

/// A program with a lifetime fault: it uses the sum before it has waited for it.
double half_of_sum_used_too_early(Comm& comm) {
  std::vector<double> values = {1.0 + comm.rank()};
  const Ticket ticket = comm.start(sum_of(values, comm));
  const double half = values[0] / 2;
  comm.wait(ticket);
  EXPECT_EQ(values[0], 3);
  return half;
}

TEST_P(Transport, ReadingBeforeTheWaitIsSeenWhenLazyAndHiddenWhenEager) {
  const bool lazy = GetParam().when == Completion::lazy;
  const auto thrown = errors(2, [lazy](Comm& comm) {
    const double half = half_of_sum_used_too_early(comm);
    EXPECT_TRUE(lazy ? std::isnan(half) : half == 1.5) << half;
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, OverwritingAnInputBeforeTheWaitIsSeenWhenLazy) {
  const bool lazy = GetParam().when == Completion::lazy;
  const auto thrown = errors(2, [lazy](Comm& comm) {
    std::vector<double> in = {1.0};
    std::vector<double> out(2);
    Collective gather = call_of(CollectiveKind::all_gather, everyone(comm));
    gather.input = doubles(in);
    gather.output = doubles(out);
    gather.output_parts = {1, 1};
    const Ticket ticket = comm.start(gather);
    in[0] = 7;
    comm.wait(ticket);
    EXPECT_THAT(out, Each(lazy ? 7 : 1));
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, OutputsHoldNaNUntilTheirOwnWaitAndOnlyWhenLazy) {
  const bool lazy = GetParam().when == Completion::lazy;
  const auto thrown = errors(2, [lazy](Comm& comm) {
    std::vector<double> first = {1.0};
    std::vector<double> second = {2.0};
    const Ticket one = comm.start(sum_of(first, comm));
    const Ticket two = comm.start(sum_of(second, comm));
    EXPECT_EQ(std::isnan(first[0]), lazy);
    EXPECT_EQ(std::isnan(second[0]), lazy);
    comm.wait(two);
    EXPECT_EQ(second[0], 4);
    EXPECT_EQ(std::isnan(first[0]), lazy);
    comm.wait(one);
    EXPECT_EQ(first[0], 2);
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, AGatherInPlaceKeepsItsOwnPart) {
  const auto thrown = errors(3, [](Comm& comm) {
    std::vector<double> all(6, -1);
    const auto own = 2 * static_cast<std::size_t>(comm.rank());
    all[own] = all[own + 1] = comm.rank() + 0.5;
    Collective gather = call_of(CollectiveKind::all_gather, everyone(comm));
    gather.output = doubles(all);
    gather.input = {gather.output.data + own * sizeof(double), 2, ElementType::float64};
    gather.output_parts = {2, 2, 2};
    const Ticket ticket = comm.start(gather);
    comm.wait(ticket);
    EXPECT_EQ(all, (std::vector<double>{0.5, 0.5, 1.5, 1.5, 2.5, 2.5}));
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

// Rank 0 waits for the second sum first, rank 1 for the first; and each awaits a message that the
// other sends only after its sum.
TEST_P(Transport, OtherOrdersOfWaitsBlockNowhere) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<double> in = {10.0 * comm.rank()};
    std::vector<double> out(1);
    std::vector<double> first = {1};
    std::vector<double> second = {2};
    Collective receive = call_of(CollectiveKind::receive, everyone(comm), 1 - comm.rank());
    receive.output = doubles(out);
    Collective send = call_of(CollectiveKind::send, everyone(comm), 1 - comm.rank());
    send.input = doubles(in);
    const Ticket received = comm.start(receive);
    const Ticket one = comm.start(sum_of(first, comm));
    const Ticket two = comm.start(sum_of(second, comm));
    if (comm.rank() == 0) {
      const Ticket sent = comm.start(send);
      comm.wait(received);
      comm.wait(two);
      comm.wait(one);
      comm.wait(sent);
    } else {
      comm.wait(one);
      const Ticket sent = comm.start(send);
      comm.wait(sent);
      comm.wait(two);
      comm.wait(received);
    }
    EXPECT_EQ(first[0] + second[0], 6);
    EXPECT_EQ(out[0], 10.0 * (1 - comm.rank()));
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, MessagesOfOnePeerKeepTheirOrderWhateverTheWaits) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<std::vector<double>> values = {{1}, {2}, {3}};
    std::vector<Ticket> tickets;
    for (std::vector<double>& each : values) {
      const bool sends = comm.rank() == 0;
      Collective call = call_of(sends ? CollectiveKind::send : CollectiveKind::receive,
                                everyone(comm), 1 - comm.rank());
      (sends ? call.input : call.output) = doubles(each);
      tickets.push_back(comm.start(call));
    }
    for (const std::size_t at : {2U, 0U, 1U}) {
      comm.wait(tickets[at]);
      EXPECT_EQ(values[at][0], 1.0 + static_cast<double>(at));
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

}  // namespace
}  // namespace meshparity
