#include "parallel_impl/comm/faulty_comm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

using testing::Each;
using testing::IsEmpty;

const Site kStruck{0, "mlp.down", "forward"};
const Site kSpared{0, "attn.out", "forward"};

// A plan whose only fault is a verb at role "mlp.down", forward, in layer 0.
FaultPlan plan_of(CommVerb verb, int rank, std::vector<int> ranks = {}) {
  NamedFault fault;
  fault.name = "planted";
  fault.role = kStruck.role;
  fault.phase = kStruck.phase;
  fault.verb = verb;
  Event event;
  event.kind = Event::Kind::fault;
  event.name = fault.name;
  event.layer = 0;
  event.ranks = std::move(ranks);
  CaseSpec spec;
  spec.events = {event};
  return FaultPlan(spec, rank, {fault});
}

struct Struck {
  std::vector<std::string> errors;
  std::vector<std::int64_t> fired;
  std::vector<std::size_t> done;  // rows in the inner ledger
};

Struck strike(int world, CommVerb verb, const std::function<void(Comm&)>& body,
              const std::vector<int>& ranks = {}) {
  Struck struck;
  struck.fired.resize(static_cast<std::size_t>(world));
  struck.done.resize(static_cast<std::size_t>(world));
  struck.errors = on_ranks(world, [&](ThreadComm& inner) {
    FaultPlan plan = plan_of(verb, inner.rank(), ranks);
    FaultyComm comm(inner, plan);
    body(comm);
    struck.fired[static_cast<std::size_t>(inner.rank())] = plan.fired()[0].times;
    struck.done[static_cast<std::size_t>(inner.rank())] = inner.ledger().size();
  });
  return struck;
}

TEST(FaultyComm, LeavesOtherSitesAlone) {
  const Struck struck = strike(3, CommVerb::skip, [](Comm& comm) {
    std::vector<double> values = {1.0 + comm.rank()};
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, kSpared);
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, {1, "mlp.down", "forward"});
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, {0, "mlp.down", "backward"});
    EXPECT_EQ(values[0], 54);  // (1 + 2 + 3) * 3 * 3
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(0));
  EXPECT_THAT(struck.done, Each(3U));
}

TEST(FaultyComm, SkippedEachRankKeepsItsOwnContribution) {
  const Struck struck = strike(3, CommVerb::skip, [](Comm& comm) {
    const double own = 1.0 + comm.rank();
    std::vector<double> sum = {own, own};
    comm.all_reduce<double>(everyone(comm), sum, ReduceOp::sum, kStruck);
    EXPECT_THAT(sum, Each(own));
    std::vector<double> part = {own};
    std::vector<double> all(3, -1);
    comm.all_gather<double>(everyone(comm), part, all, {1, 1, 1}, kStruck);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(all[i], i == static_cast<std::size_t>(comm.rank()) ? own : -1);
    }
    const std::vector<double> values = {10 * own, 20 * own, 30 * own};
    comm.reduce_scatter<double>(everyone(comm), values, part, {1, 1, 1}, kStruck);
    EXPECT_EQ(part[0], 10 * own * own);
    EXPECT_EQ(comm.ledger().size(), 3U);  // what the program asked for
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(3));
  EXPECT_THAT(struck.done, Each(0U));
}

TEST(FaultyComm, DoneTwiceASumIsSummedAgain) {
  const Struck struck = strike(3, CommVerb::twice, [](Comm& comm) {
    std::vector<double> values = {1.0 + comm.rank()};
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, kStruck);
    EXPECT_EQ(values[0], 18);  // 3 * (1 + 2 + 3)
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(1));
  EXPECT_THAT(struck.done, Each(2U));
}

TEST(FaultyComm, CastRoundsThePayloadAndLeavesTheCallersInputAlone) {
  const Struck struck = strike(2, CommVerb::cast, [](Comm& comm) {
    const std::vector<double> values = {1 + 0x1p-9, 1 + 0x1p-8 + 0x1p-50};
    std::vector<double> part(1);
    comm.reduce_scatter<double>(everyone(comm), values, part, {1, 1}, kStruck);
    // A quarter of a bfloat16 spacing goes down, more than half by 2^-50 goes up.
    EXPECT_EQ(part[0], comm.rank() == 0 ? 2.0 : 2 * (1 + 0x1p-7));
    EXPECT_EQ(values[0], 1 + 0x1p-9);
    std::vector<std::int64_t> counts = {1000001};
    comm.all_reduce<std::int64_t>(everyone(comm), counts, ReduceOp::sum, kStruck);
    EXPECT_EQ(counts[0], 2000002);
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(2));
}

TEST(FaultyComm, CorruptChangesOneElementOnTheRanksNamed) {
  const Struck struck =
      strike(3, CommVerb::corrupt,
             [](Comm& comm) {
               std::vector<double> values = {1, 1};
               std::vector<double> none;
               comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, kStruck);
               comm.all_reduce<double>(everyone(comm), none, ReduceOp::sum, kStruck);
               EXPECT_EQ(values, (comm.rank() == 1 ? std::vector<double>{5.5, 3}
                                                   : std::vector<double>{3, 3}));  // 1.5 * 3 + 1
             },
             {1});
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_EQ(struck.fired, (std::vector<std::int64_t>{0, 2, 0}));
}

/// What every rank of four holds of 1 2 4 8 after a sum over its pair 0 1 or 2 3.
std::vector<double> sums_of_pairs(CommVerb verb) {
  std::vector<double> sums(4);
  const Struck struck = strike(4, verb, [&](Comm& comm) {
    const int first = comm.rank() / 2 * 2;
    std::vector<double> values = {std::ldexp(1.0, comm.rank())};
    comm.all_reduce<double>(group_of({first, first + 1}, comm.rank()), values, ReduceOp::sum,
                            kStruck);
    sums[static_cast<std::size_t>(comm.rank())] = values[0];
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(1));
  return sums;
}

TEST(FaultyComm, OverAWrongGroupItAddsWhatThatGroupHolds) {
  EXPECT_EQ(sums_of_pairs(CommVerb::everyone), (std::vector<double>{15, 15, 15, 15}));
  EXPECT_EQ(sums_of_pairs(CommVerb::half), (std::vector<double>{1, 2, 4, 8}));
  EXPECT_EQ(sums_of_pairs(CommVerb::crosswise), (std::vector<double>{5, 10, 5, 10}));
  EXPECT_EQ(sums_of_pairs(CommVerb::reorder), (std::vector<double>{3, 3, 12, 12}));
}

// ((2^-53 + 2^-53) + 1) + 2^-53 is above 1, ((2^-53 + 1) + 2^-53) + 2^-53 is 1.
TEST(FaultyComm, ReorderedItRoundsOtherwise) {
  const Struck struck = strike(8, CommVerb::reorder, [](Comm& comm) {
    const int odd = comm.rank() % 2;
    std::vector<double> values = {comm.rank() / 2 == 2 ? 1.0 : 0x1p-53};
    comm.all_reduce<double>(group_of({odd, odd + 2, odd + 4, odd + 6}, comm.rank()), values,
                            ReduceOp::sum, kStruck);
    EXPECT_EQ(values[0], 1.0);  // the one is added second
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
}

TEST(FaultyComm, RefusesToGatherOverAnotherGroup) {
  const Struck struck = strike(2, CommVerb::half, [](Comm& comm) {
    const std::vector<double> part = {1};
    std::vector<double> all(2);
    comm.all_gather<double>(everyone(comm), part, all, {1, 1}, kStruck);
  });
  EXPECT_THAT(struck.errors[0], testing::HasSubstr("layer0.mlp.down/forward asks for another"));
}

TEST(FaultyComm, PermutedThePartsComeInReverseOrder) {
  const Struck struck = strike(3, CommVerb::permute, [](Comm& comm) {
    const auto own = static_cast<std::size_t>(comm.rank());
    const std::vector<std::vector<double>> parts = {{1, 2}, {3, 4}, {5}};
    std::vector<double> all(5);
    comm.all_gather<double>(everyone(comm), parts[own], all, {2, 2, 1}, kStruck);
    EXPECT_EQ(all, (std::vector<double>{5, 3, 4, 1, 2}));

    const std::vector<double> values = {1, 2, 3, 4, 5};
    std::vector<double> part(own < 2 ? 2 : 1);
    comm.reduce_scatter<double>(everyone(comm), values, part, {2, 2, 1}, kStruck);
    EXPECT_EQ(part, (std::vector<std::vector<double>>{{15, 9}, {12, 3}, {6}})[own]);
    EXPECT_EQ(values, (std::vector<double>{1, 2, 3, 4, 5}));
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(2));
}

TEST(FaultyComm, DelayedItGivesTheSame) {
  const Struck struck = strike(3, CommVerb::delay, [](Comm& comm) {
    std::vector<double> values = {1.0 + comm.rank()};
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, kStruck);
    EXPECT_EQ(values[0], 6);
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(1));
}

TEST(FaultyComm, WithTheTailDroppedTheLastElementStaysWhatItWas) {
  const Struck struck = strike(2, CommVerb::drop_tail, [](Comm& comm) {
    const double own = 1.0 + comm.rank();
    std::vector<double> values = {own, own, own};
    std::vector<double> none;
    comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, kStruck);
    comm.all_reduce<double>(everyone(comm), none, ReduceOp::sum, kStruck);
    EXPECT_EQ(values, (std::vector<double>{3, 3, own}));
  });
  EXPECT_THAT(struck.errors, Each(IsEmpty()));
  EXPECT_THAT(struck.fired, Each(2));
}

TEST(FaultyComm, AGroupOfOneHasNothingToStrike) {
  const Struck struck = strike(2, CommVerb::corrupt, [](Comm& comm) {
    std::vector<double> values = {7};
    comm.all_reduce<double>(group_of({comm.rank()}, comm.rank()), values, ReduceOp::sum, kStruck);
    EXPECT_EQ(values[0], 7);
  });
  EXPECT_THAT(struck.fired, Each(0));
}

}  // namespace
}  // namespace meshparity
