// What a rank is told when its peers fail, end, call something else, or do not come; on every
// transport.
#include "parallel_impl/comm/transport_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kShort{200 * kSlowness};

void sum_one(Comm& comm, const CommGroup& group, const Site& site, std::size_t count = 1) {
  std::vector<double> values(count, 1.0);
  comm.all_reduce<double>(group, values, ReduceOp::sum, site);
}

TEST_P(Transport, EveryPeersWaitEndsWithTheNameOfTheRankThatThrew) {
  const auto start = Clock::now();
  const RanksOutcome outcome = run(4, [](Comm& comm) {
    if (comm.rank() == 2) {
      throw std::runtime_error("out of ideas");
    }
    sum_one(comm, everyone(comm), site_of("mlp.down", 1));
  });
  EXPECT_LT(Clock::now() - start, kDefaultTimeLimit / 2);
  EXPECT_EQ(outcome.errors[2], "out of ideas");
  for (const std::size_t peer : {0U, 1U, 3U}) {
    EXPECT_THAT(outcome.errors[peer], HasSubstr("rank 2 (r2) failed: out of ideas"));
    EXPECT_THAT(outcome.errors[peer], HasSubstr("layer1.mlp.down/forward"));
  }
  ASSERT_TRUE(outcome.failure.has_value());
  EXPECT_EQ(outcome.failure->rank, 2);
  EXPECT_EQ(outcome.failure->coordinate, "r2");
  EXPECT_EQ(outcome.failure->what, "out of ideas");
}

TEST_P(Transport, AfterAFailureCallsOfOtherGroupsAreRefusedToo) {
  const RanksOutcome outcome = run(3, [](Comm& comm) {
    if (comm.rank() == 0) {
      throw std::runtime_error("first");
    }
    const auto start = Clock::now();
    while (Clock::now() - start < kDefaultTimeLimit) {
      sum_one(comm, group_of({1, 2}, comm.rank()), site_of("late"));
    }
  });
  EXPECT_THAT(outcome.errors[1], HasSubstr("rank 0 (r0) failed: first"));
  EXPECT_THAT(outcome.errors[2], HasSubstr("rank 0 (r0) failed: first"));
}

TEST_P(Transport, AReceiverIsToldOfAFailedPeer) {
  const RanksOutcome outcome = run(3, [](Comm& comm) {
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
  EXPECT_THAT(outcome.errors[1], HasSubstr("rank 2 (r2) failed: third"));
}

TEST_P(Transport, ARankThatEndedIsNamedAtOnceWithItsLastWords) {
  const auto start = Clock::now();
  const RanksOutcome outcome = run(2, [](Comm& comm) {
    sum_one(comm, everyone(comm), site_of("attn.out", 0));
    if (comm.rank() == 0) {
      sum_one(comm, everyone(comm), site_of("mlp.down", 0), 3);
    }
  });
  EXPECT_LT(Clock::now() - start, kDefaultTimeLimit / 2);
  EXPECT_EQ(outcome.errors[0],
            "rank 0 (r0) waits in all_reduce of 3 float64 at layer0.mlp.down/forward (sequence 2, "
            "step 0, micro-batch 0, tp: 0 1) for rank 1 (r1), which last entered all_reduce of 1 "
            "float64 at layer0.attn.out/forward (sequence 1, step 0, micro-batch 0, tp: 0 1), and "
            "has ended");
  EXPECT_THAT(outcome.errors[1], IsEmpty());
}

TEST_P(Transport, ASenderThatEndedIsNamed) {
  const RanksOutcome outcome = run(2, [](Comm& comm) {
    if (comm.rank() == 1) {
      std::vector<double> values(1);
      Collective receive = call_of(CollectiveKind::receive, everyone(comm), 0);
      receive.output = doubles(values);
      carry_out(comm, receive);
    }
  });
  EXPECT_THAT(outcome.errors[1],
              AllOf(HasSubstr("rank 1 (r1) waits in receive of 1 float64"),
                    HasSubstr("rank 0 (r0), which has entered nothing yet, and has ended")));
}

TEST_P(Transport, TheTimeLimitTellsWhoWaitsWhereAndForWhom) {
  const RanksOutcome outcome = run(
      3,
      [](Comm& comm) {
        if (comm.rank() == 2) {
          std::this_thread::sleep_for(8 * kShort);  // neither comes nor ends
          return;
        }
        sum_one(comm, everyone(comm), site_of("loss.max", -1));
      },
      kShort);
  const RankFailure failure = outcome.failure.value_or(RankFailure{});
  EXPECT_THAT(failure.what,
              AllOf(HasSubstr("rank " + std::to_string(failure.rank)),
                    HasSubstr("all_reduce of 1 float64 at loss.max/forward (sequence 1"),
                    HasSubstr("for rank 2 (r2), which has entered nothing yet"),
                    HasSubstr("nothing moved for " + std::to_string(kShort.count()) + " ms")));
  EXPECT_THAT(failure.what, Not(HasSubstr("for rank 1")));
  EXPECT_NE(failure.rank, 2);
}

TEST_P(Transport, RanksThatEnteredOtherCollectivesAreNamedWithThem) {
  const RanksOutcome outcome = run(
      3,
      [](Comm& comm) {  // 0 waits for 1, 1 for 2, 2 for 0
        const std::vector<int> pair = {comm.rank(), (comm.rank() + 1) % 3};
        sum_one(comm, group_of(pair, comm.rank()),
                site_of("pair" + std::to_string(comm.rank()), -1));
      },
      kShort);
  const RankFailure failure = outcome.failure.value_or(RankFailure{});
  const std::string next = std::to_string((failure.rank + 1) % 3);
  EXPECT_THAT(failure.what, HasSubstr("for rank " + next + " (r" + next +
                                      "), which last entered all_reduce of 1 float64 at pair" +
                                      next + "/forward"));
}

TEST_P(Transport, TheLimitDoesNotRunWhileOthersMove) {
  static constexpr milliseconds kLimit{500 * kSlowness};
  const RanksOutcome outcome = run(
      3,
      [](Comm& comm) {
        const auto start = Clock::now();
        // Ranks 1 and 2 talk for two limits before they come to rank 0.
        std::vector<double> go_on = {1};
        while (comm.rank() != 0 && go_on[0] != 0) {
          std::this_thread::sleep_for(kLimit / 100);
          go_on[0] = Clock::now() - start < 2 * kLimit ? 1 : 0;
          comm.all_reduce<double>(group_of({1, 2}, comm.rank()), go_on, ReduceOp::max,
                                  site_of("talk"));
        }
        sum_one(comm, everyone(comm), site_of("all"));
      },
      kLimit);
  EXPECT_THAT(outcome.errors, Each(IsEmpty()));
}

struct Mismatch {
  std::string difference;
  std::function<void(Comm&)> call;
};

std::vector<Mismatch> mismatches() {
  const auto site = [](int layer, int step) { return Site{layer, "x", "forward", step, 0}; };
  return {
      {"kind", [](Comm& comm) { comm.barrier(everyone(comm), site_of("x")); }},
      {"site", [=](Comm& comm) { sum_one(comm, everyone(comm), site(1, 0), 4); }},
      {"step or micro-batch", [=](Comm& comm) { sum_one(comm, everyone(comm), site(0, 1), 4); }},
      {"group",
       [=](Comm& comm) {
         sum_one(comm, group_of({1, 0}, 1), site(0, 0), 4);
       }},
      {"count", [=](Comm& comm) { sum_one(comm, everyone(comm), site(0, 0), 5); }},
      {"element type",
       [=](Comm& comm) {
         std::vector<float> values(4);
         comm.all_reduce<float>(everyone(comm), values, ReduceOp::sum, site(0, 0));
       }},
      {"operation",
       [=](Comm& comm) {
         std::vector<double> values(4);
         comm.all_reduce<double>(everyone(comm), values, ReduceOp::max, site(0, 0));
       }},
  };
}

TEST_P(Transport, CallsThatDoNotBelongTogetherAreToldApartAtOnce) {
  for (const Mismatch& mismatch : mismatches()) {
    const auto start = Clock::now();
    const RanksOutcome outcome = run(2, [&](Comm& comm) {
      if (comm.rank() == 1) {
        mismatch.call(comm);
      } else {
        sum_one(comm, everyone(comm), site_of("x"), 4);
      }
    });
    EXPECT_LT(Clock::now() - start, kDefaultTimeLimit / 2);
    EXPECT_THAT(outcome.failure.value_or(RankFailure{}).what,
                AllOf(HasSubstr("rank 0 (r0)"), HasSubstr("rank 1 (r1)"),
                      HasSubstr("they differ in " + mismatch.difference)));
    EXPECT_THAT(outcome.errors, Each(Not(IsEmpty())));
  }
}

TEST_P(Transport, RootsThatDifferAreNamed) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<double> values(3);
    Collective call = call_of(CollectiveKind::broadcast, everyone(comm), comm.rank());
    call.input = call.output = doubles(values);
    carry_out(comm, call);
  });
  EXPECT_THAT(thrown, Each(HasSubstr("they differ in root")));
}

TEST_P(Transport, PartsThatDifferAreNamed) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<double> part(1);
    std::vector<double> all(3);
    const std::vector<std::int64_t> parts =
        comm.rank() == 0 ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2, 1};
    comm.all_gather<double>(everyone(comm), part, all, parts, site_of("gather"));
  });
  EXPECT_THAT(thrown, Each(HasSubstr("they differ in parts")));
}

TEST_P(Transport, AnAllToAllWhoseSplitsDoNotMatchIsRefused) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<double> in(2);
    std::vector<double> out(comm.rank() == 0 ? 2 : 3);
    Collective request = call_of(CollectiveKind::all_to_all, everyone(comm));
    request.input = doubles(in);
    request.output = doubles(out);
    request.input_parts = {1, 1};
    request.output_parts = {1, comm.rank() == 0 ? 1 : 2};
    carry_out(comm, request);
  });
  EXPECT_THAT(thrown,
              Each(HasSubstr("rank 1 (r1) sends 1 elements to rank 1 (r1), which awaits 2")));
}

}  // namespace
}  // namespace meshparity
