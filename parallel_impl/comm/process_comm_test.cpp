// What can happen to ranks that are processes only: signals, exits, large values.
#include "parallel_impl/comm/process_comm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "parallel_impl/comm/rank_calls.hpp"
#include "parallel_impl/comm/rank_processes.hpp"

namespace meshparity {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using Clock = std::chrono::steady_clock;

void sum_all(Comm& comm, const std::string& role) {
  std::vector<double> values(3, 1.0);
  comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, site_of(role));
}

/// Three ranks sum twice; rank 1 gets the signal between.
std::vector<std::string> ranks_one_gets(int signal, ProcessWorld& world) {
  return run_rank_processes(world, [&](int rank) {
    ProcessComm comm(world, rank);
    sum_all(comm, "attn.out");
    if (rank == 1) {
      ::raise(signal);
    }
    sum_all(comm, "mlp.down");
  });
}

TEST(ProcessComm, AKilledRankEndsEveryPeersWaitWithItsName) {
  ProcessWorld world(numbered_coordinates(3));
  const auto start = Clock::now();
  const auto errors = ranks_one_gets(SIGKILL, world);

  EXPECT_LT(Clock::now() - start, kDefaultTimeLimit / 2);
  EXPECT_EQ(errors[1], "was killed by SIGKILL (signal 9)");
  for (const std::size_t peer : {0U, 2U}) {
    EXPECT_THAT(errors[peer],
                AllOf(HasSubstr("rank 1 (r1) failed: was killed by SIGKILL (signal 9)"),
                      HasSubstr("layer0.mlp.down/forward")));
  }
  EXPECT_EQ(world.first_failure().value_or(RankFailure{}).rank, 1);
}

TEST(ProcessComm, AStoppedRankIsWaitedForNoLongerThanTheLimitAndNotLeftBehind) {
  ProcessWorld world(numbered_coordinates(3), milliseconds(300 * kSlowness));
  const auto errors = ranks_one_gets(SIGSTOP, world);

  EXPECT_THAT(world.first_failure().value_or(RankFailure{}).what,
              AllOf(HasSubstr("for rank 1 (r1), which last entered all_reduce"),
                    HasSubstr("nothing moved for")));
  EXPECT_EQ(errors[1], "was killed by SIGKILL (signal 9)");
}

TEST(ProcessComm, ARankThatLeavesItsProcessIsNamed) {
  ProcessWorld world(numbered_coordinates(2));
  const auto errors = run_rank_processes(world, [&](int rank) {
    ProcessComm comm(world, rank);
    if (rank == 0) {
      ::_exit(7);
    }
    sum_all(comm, "mlp.down");
  });
  EXPECT_EQ(errors[0], "ended its process with exit code 7");
  EXPECT_THAT(errors[1], HasSubstr("rank 0 (r0) failed: ended its process with exit code 7"));
}

// Killed at any moment of many calls, also between showing and reading.
TEST(ProcessComm, ARankKilledAnywhereLeavesNobodyWaiting) {
  for (const int delay : {1, 2, 3, 5, 8}) {
    ProcessWorld world(numbered_coordinates(4));
    const auto start = Clock::now();
    const auto errors = run_rank_processes(world, [&](int rank) {
      ProcessComm comm(world, rank);
      while (rank != 2 || Clock::now() - start < milliseconds(delay * kSlowness)) {
        sum_all(comm, "mlp.down");
      }
      ::raise(SIGKILL);
    });
    EXPECT_LT(Clock::now() - start, kDefaultTimeLimit / 2);
    for (const std::size_t peer : {0U, 1U, 3U}) {
      EXPECT_THAT(errors[peer], HasSubstr("rank 2 (r2) failed: was killed by SIGKILL"));
    }
  }
}

TEST(ProcessComm, MegabytesMoveBothWays) {
  ProcessWorld world(numbered_coordinates(2));
  const auto errors = run_rank_processes(world, [&](int rank) {
    ProcessComm comm(world, rank);
    std::vector<double> values(1 << 20, rank + 1.0);
    std::vector<double> got(values.size());
    for (int round = 0; round < 40; ++round) {  // 320 MiB in all: the outbox is used again
      Collective send = call_of(CollectiveKind::send, everyone(comm), 1 - rank);
      send.input = doubles(values);
      Collective receive = call_of(CollectiveKind::receive, everyone(comm), 1 - rank);
      receive.output = doubles(got);
      carry_out(comm, send);
      carry_out(comm, receive);
      comm.barrier(everyone(comm), site_of("round"));
    }
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, site_of("sum"));
    if (got != std::vector<double>(got.size(), 2.0 - rank) ||
        values != std::vector<double>(values.size(), 3.0)) {
      throw std::runtime_error("other values");
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(ProcessComm, MoreThanARankCanShowIsRefused) {
  ProcessWorld world(numbered_coordinates(2));
  const auto errors = run_rank_processes(world, [&](int rank) {
    ProcessComm comm(world, rank);
    Collective sum = call_of(CollectiveKind::all_reduce, everyone(comm));
    sum.input.count = static_cast<std::int64_t>(ProcessWorld::kAreaBytes / 8) + 1;
    sum.output = sum.input;
    comm.carry_out(sum);
  });
  EXPECT_THAT(errors, Each(HasSubstr("exceed what a rank can show")));
}

TEST(ProcessComm, MessagesThatNobodyTakesAreCounted) {
  ProcessWorld world(numbered_coordinates(2));
  run_rank_processes(world, [&](int rank) {
    ProcessComm comm(world, rank);
    if (rank == 0) {
      carry_out(comm, call_of(CollectiveKind::send, everyone(comm), 1));
    }
  });
  EXPECT_EQ(world.messages_left(), 1U);
}

}  // namespace
}  // namespace meshparity
