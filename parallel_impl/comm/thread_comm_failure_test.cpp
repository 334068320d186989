// What a rank is told when its peers fail, end, call something else, or do not come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr milliseconds kShort{200 * kSlowness};

void sum_one(ThreadComm& comm, const CommGroup& group, const Site& site, std::size_t count = 1) {
  std::vector<double> values(count, 1.0);
  comm.all_reduce<double>(group, values, ReduceOp::sum, site);
}

TEST(ThreadCommFailure, EveryPeersWaitEndsWithTheNameOfTheRankThatThrew) {
  ThreadWorld world({"dp0 tp0", "dp0 tp1", "dp1 tp0", "dp1 tp1"});
  const auto start = std::chrono::steady_clock::now();
  const auto errors = run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    if (rank == 2) {
      throw std::runtime_error("out of ideas");
    }
    sum_one(comm, everyone(comm), site_of("mlp.down", 1));
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, kDefaultTimeLimit / 2);
  EXPECT_EQ(errors[2], "out of ideas");
  for (const std::size_t peer : {0U, 1U, 3U}) {
    EXPECT_THAT(errors[peer], HasSubstr("rank 2 (dp1 tp0) failed: out of ideas"));
    EXPECT_THAT(errors[peer], HasSubstr("layer1.mlp.down/forward"));
  }
  EXPECT_EQ(world.first_failure().value().rank, 2);
  EXPECT_EQ(world.first_failure().value().coordinate, "dp1 tp0");
  EXPECT_EQ(world.first_failure().value().what, "out of ideas");
}

TEST(ThreadCommFailure, APoisonedWorldRefusesLaterCallsOfOtherGroups) {
  ThreadWorld world(numbered_coordinates(3));
  const auto errors = run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    if (rank == 0) {
      throw std::runtime_error("first");
    }
    while (!world.first_failure()) {
      std::this_thread::yield();
    }
    sum_one(comm, group_of({1, 2}, rank), site_of("late"));
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 (r0) failed: first"));
  EXPECT_THAT(errors[2], HasSubstr("rank 0 (r0) failed: first"));
}

TEST(ThreadCommFailure, ARankThatEndedIsNamedAtOnceWithItsLastWords) {
  ThreadWorld world({"tp0", "tp1"});
  const auto start = std::chrono::steady_clock::now();
  const auto errors = run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    sum_one(comm, everyone(comm), site_of("attn.out", 0));
    if (rank == 0) {
      sum_one(comm, everyone(comm), site_of("mlp.down", 0), 3);
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - start, kDefaultTimeLimit / 2);
  EXPECT_EQ(errors[0],
            "rank 0 (tp0) waits in all_reduce of 3 float64 at layer0.mlp.down/forward (sequence 2, "
            "step 0, micro-batch 0, tp: 0 1) for rank 1 (tp1), which last entered all_reduce of 1 "
            "float64 "
            "at layer0.attn.out/forward (sequence 1, step 0, micro-batch 0, tp: 0 1), and has "
            "ended");
  EXPECT_THAT(errors[1], IsEmpty());
}

TEST(ThreadCommFailure, TheTimeLimitTellsWhoWaitsWhereAndForWhom) {
  ThreadWorld world({"tp0", "tp1", "tp2"}, kShort);
  const auto errors = run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    if (rank == 2) {
      while (!world.first_failure()) {  // neither comes nor ends
        std::this_thread::sleep_for(milliseconds(1));
      }
      return;
    }
    sum_one(comm, everyone(comm), site_of("loss.max", -1));
  });
  const RankFailure failure = world.first_failure().value();
  EXPECT_THAT(failure.what,
              AllOf(HasSubstr("rank " + std::to_string(failure.rank)),
                    HasSubstr("all_reduce of 1 float64 at loss.max/forward (sequence 1"),
                    HasSubstr("for rank 2 (tp2), which has entered nothing yet"),
                    HasSubstr("nothing moved for " + std::to_string(kShort.count()) + " ms")));
  EXPECT_THAT(failure.what, Not(HasSubstr("for rank 1")));
  EXPECT_NE(failure.rank, 2);
}

TEST(ThreadCommFailure, RanksThatEnteredOtherCollectivesAreNamedWithThem) {
  ThreadWorld world({"r0", "r1", "r2"}, kShort);
  run_rank_threads(world, [&](int rank) {  // 0 waits for 1, 1 for 2, 2 for 0
    ThreadComm comm(world, rank);
    const std::vector<int> pair = {rank, (rank + 1) % 3};
    sum_one(comm, group_of(pair, rank), site_of("pair" + std::to_string(rank), -1));
  });
  const RankFailure failure = world.first_failure().value();
  const std::string next = std::to_string((failure.rank + 1) % 3);
  EXPECT_THAT(failure.what, HasSubstr("for rank " + next + " (r" + next +
                                      "), which last entered "
                                      "all_reduce of 1 float64 at pair" +
                                      next + "/forward"));
}

TEST(ThreadCommFailure, TheLimitDoesNotRunWhileOthersMove) {
  constexpr milliseconds kLimit{500 * kSlowness};
  ThreadWorld world(numbered_coordinates(3), kLimit);
  const auto errors = run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    const auto start = std::chrono::steady_clock::now();
    // Ranks 1 and 2 talk for two limits before they come to rank 0.
    std::vector<double> go_on = {1};
    while (rank != 0 && go_on[0] != 0) {
      std::this_thread::sleep_for(kLimit / 100);
      go_on[0] = std::chrono::steady_clock::now() - start < 2 * kLimit ? 1 : 0;
      comm.all_reduce<double>(group_of({1, 2}, rank), go_on, ReduceOp::max, site_of("talk"));
    }
    sum_one(comm, everyone(comm), site_of("all"));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

struct Mismatch {
  std::string difference;
  std::function<void(ThreadComm&)> call;
};

std::vector<Mismatch> mismatches() {
  const auto site = [](int layer, int step) { return Site{layer, "x", "forward", step, 0}; };
  return {
      {"kind", [](ThreadComm& comm) { comm.barrier(everyone(comm), site_of("x")); }},
      {"site", [=](ThreadComm& comm) { sum_one(comm, everyone(comm), site(1, 0), 4); }},
      {"step or micro-batch",
       [=](ThreadComm& comm) { sum_one(comm, everyone(comm), site(0, 1), 4); }},
      {"group",
       [=](ThreadComm& comm) {
         sum_one(comm, group_of({1, 0}, 1), site(0, 0), 4);
       }},
      {"count", [=](ThreadComm& comm) { sum_one(comm, everyone(comm), site(0, 0), 5); }},
      {"element type",
       [=](ThreadComm& comm) {
         std::vector<float> values(4);
         comm.all_reduce<float>(everyone(comm), values, ReduceOp::sum, site(0, 0));
       }},
      {"operation",
       [=](ThreadComm& comm) {
         std::vector<double> values(4);
         comm.all_reduce<double>(everyone(comm), values, ReduceOp::max, site(0, 0));
       }},
  };
}

TEST(ThreadCommFailure, CallsThatDoNotBelongTogetherAreToldApartAtOnce) {
  for (const Mismatch& mismatch : mismatches()) {
    ThreadWorld world({"tp0", "tp1"});
    const auto start = std::chrono::steady_clock::now();
    const auto errors = run_rank_threads(world, [&](int rank) {
      ThreadComm comm(world, rank);
      if (rank == 1) {
        mismatch.call(comm);
      } else {
        sum_one(comm, everyone(comm), site_of("x"), 4);
      }
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, kDefaultTimeLimit / 2);
    EXPECT_THAT(world.first_failure().value().what,
                AllOf(HasSubstr("rank 0 (tp0)"), HasSubstr("rank 1 (tp1)"),
                      HasSubstr("they differ in " + mismatch.difference)));
    EXPECT_THAT(errors, Each(Not(IsEmpty())));
  }
}

TEST(ThreadCommFailure, WhoeverGivesUpHasMarkedTheWorldBeforeItsBuffersGo) {
  ThreadWorld world(numbered_coordinates(2));
  run_rank_threads(world, [&](int rank) {
    ThreadComm comm(world, rank);
    if (rank == 0) {
      EXPECT_THROW(sum_one(comm, everyone(comm), site_of("x")), Error);
      EXPECT_TRUE(world.first_failure().has_value());
    }
  });
  EXPECT_EQ(world.first_failure().value_or(RankFailure{}).rank, 0);
}

TEST(ThreadCommFailure, RootsThatDifferAreNamed) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    std::vector<double> values(3);
    Collective call = call_of(CollectiveKind::broadcast, everyone(comm), comm.rank());
    call.input = call.output = doubles(values);
    carry_out(comm, call);
  });
  EXPECT_THAT(errors, Each(HasSubstr("they differ in root")));
}

TEST(ThreadCommFailure, PartsThatDifferAreNamed) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    std::vector<double> part(1);
    std::vector<double> all(3);
    const std::vector<std::int64_t> parts =
        comm.rank() == 0 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2, 1};
    comm.all_gather<double>(everyone(comm), part, all, parts, site_of("gather"));
  });
  EXPECT_THAT(errors, Each(HasSubstr("they differ in parts")));
}

TEST(ThreadCommFailure, AnAllToAllWhoseSplitsDoNotMatchIsRefused) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    std::vector<double> in(2);
    std::vector<double> out(comm.rank() == 0 ? 2 : 3);
    Collective request = call_of(CollectiveKind::all_to_all, everyone(comm));
    request.input = doubles(in);
    request.output = doubles(out);
    request.input_parts = {1, 1};
    request.output_parts = {1, comm.rank() == 0 ? 1 : 2};
    carry_out(comm, request);
  });
  EXPECT_THAT(errors,
              Each(HasSubstr("rank 1 (r1) sends 1 elements to rank 1 (r1), which awaits 2")));
}

}  // namespace
}  // namespace meshparity
