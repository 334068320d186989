// Messages that do not belong to the call that awaits them, that never come, that nobody takes.
#include "parallel_impl/comm/mailbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// Rank 0 sends what `sent` makes of the call, rank 1 awaits it as it was; what rank 1 is told.
std::string told_of(const std::function<void(Collective&)>& sent) {
  std::vector<double> values(2);
  return on_ranks(2, [&](ThreadComm& comm) {
    std::vector<double> own = values;
    const bool sends = comm.rank() == 0;
    Collective call = call_of(sends ? CollectiveKind::send : CollectiveKind::receive,
                              everyone(comm), sends ? 1 : 0);
    (sends ? call.input : call.output) = doubles(own);
    if (sends) {
      sent(call);
    }
    carry_out(comm, call);
  })[1];
}

TEST(Mailbox, AMessageOfAnotherCallIsRefused) {
  EXPECT_THAT(
      told_of([](Collective& call) { call.site.mb = 1; }),
      AllOf(HasSubstr("receive of 2 float64 at layer0.test/forward"), HasSubstr("micro-batch 0"),
            HasSubstr("rank 0 (r0) sent send"), HasSubstr("micro-batch 1")));
  EXPECT_THAT(told_of([](Collective& call) { call.input.count = 1; }),
              HasSubstr("sent send of 1 float64"));
  EXPECT_THAT(told_of([](Collective& call) { call.input.type = ElementType::float32; }),
              HasSubstr("sent send of 2 float32"));
  EXPECT_THAT(told_of([](Collective& call) { call.site.role = "other"; }),
              HasSubstr("layer0.other/forward"));
  EXPECT_THAT(told_of([](Collective& call) { call.site.layer = 1; }), IsEmpty());
}

TEST(Mailbox, MessagesThatNobodyTakesAreCounted) {
  ThreadWorld world(numbered_coordinates(2));
  run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    std::vector<double> values(2);
    if (rank == 0) {
      Collective send = call_of(CollectiveKind::send, everyone(comm), 1);
      send.input = doubles(values);
      carry_out(comm, send);
    }
  });
  EXPECT_EQ(world.messages_left(), 1U);
}

TEST(Mailbox, AReceiverIsToldOfAFailedPeer) {
  const auto errors = on_ranks(3, [](ThreadComm& comm) {
    if (comm.rank() == 2) {
      throw std::runtime_error("third");
    }
    if (comm.rank() == 1) {
      std::vector<double> values(1);
      Collective receive = call_of(CollectiveKind::receive, group_of({0, 1}, 1), 0);
      receive.output = doubles(values);
      carry_out(comm, receive);
    } else {
      comm.barrier(everyone(comm), site_of("end"));
    }
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 2 (r2) failed: third"));
}

TEST(Mailbox, ASenderThatEndedIsNamed) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    if (comm.rank() == 1) {
      std::vector<double> values(1);
      Collective receive = call_of(CollectiveKind::receive, everyone(comm), 0);
      receive.output = doubles(values);
      carry_out(comm, receive);
    }
  });
  EXPECT_THAT(errors[1],
              AllOf(HasSubstr("rank 1 (r1) waits in receive of 1 float64"),
                    HasSubstr("rank 0 (r0), which has entered nothing yet, and has ended")));
}

}  // namespace
}  // namespace meshparity
