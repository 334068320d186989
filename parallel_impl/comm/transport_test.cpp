// Every collective against numbers worked by hand, on every transport, on 1, 2, 3 and 8 ranks.
#include "parallel_impl/comm/transport_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace meshparity {
namespace {

using testing::Each;
using testing::IsEmpty;

// 2^53: adding 1 to it changes nothing, adding 2 does.
constexpr double kBig = 9007199254740992.0;

constexpr int kWorlds[] = {1, 2, 3, 8};

TEST_P(Transport, AllReduceSumsEveryElementForEveryRank) {
  for (const int world : kWorlds) {
    for (const int count : {0, 1, 5, 7, 1000}) {
      const auto thrown = errors(world, [&](Comm& comm) {
        std::vector<double> values(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
          values[static_cast<std::size_t>(i)] = 100.0 * i + comm.rank();
        }
        comm.all_reduce<double>(everyone(comm), values, ReduceOp::sum, site_of("sum"));
        // sum over r of (100 i + r) = 100 i P + P (P - 1) / 2
        for (int i = 0; i < count; ++i) {
          EXPECT_EQ(values[static_cast<std::size_t>(i)],
                    100.0 * i * world + world * (world - 1) / 2);
        }
      });
      EXPECT_THAT(thrown, Each(IsEmpty()));
    }
  }
}

TEST_P(Transport, AllReduceTakesTheGreatest) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      std::vector<float> values = {static_cast<float>(comm.rank()),
                                   static_cast<float>(-comm.rank())};
      comm.all_reduce<float>(everyone(comm), values, ReduceOp::max, site_of("max"));
      EXPECT_EQ(values, (std::vector<float>{static_cast<float>(world - 1), 0.0F}));
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

// Rank r's part has r elements, all r: rank 0's is empty.
std::vector<std::int64_t> growing_parts(int world) {
  std::vector<std::int64_t> parts(static_cast<std::size_t>(world));
  std::iota(parts.begin(), parts.end(), 0);
  return parts;
}

std::vector<double> growing_values(int world) {
  std::vector<double> values;
  for (int rank = 0; rank < world; ++rank) {
    values.insert(values.end(), static_cast<std::size_t>(rank), rank);
  }
  return values;
}

TEST_P(Transport, AllGatherPutsUnequalPartsInOrderEmptyOnesToo) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      const std::vector<double> part(static_cast<std::size_t>(comm.rank()), comm.rank());
      std::vector<double> all(growing_values(world).size(), -1);
      comm.all_gather<double>(everyone(comm), part, all, growing_parts(world), site_of("gather"));
      EXPECT_EQ(all, growing_values(world));
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

TEST_P(Transport, AllGatherWorksInPlace) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      const std::vector<std::int64_t> parts(static_cast<std::size_t>(world), 2);
      std::vector<double> all(2 * static_cast<std::size_t>(world), -1);
      const std::span<double> own =
          std::span<double>(all).subspan(2 * static_cast<std::size_t>(comm.rank()), 2);
      own[0] = own[1] = comm.rank() + 0.5;
      comm.all_gather<double>(everyone(comm), own, all, parts, site_of("gather"));
      for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], static_cast<double>(i / 2) + 0.5);
      }
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

TEST_P(Transport, ReduceScatterGivesEachRankItsPartOfTheSum) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      std::vector<double> values = growing_values(world);
      for (double& value : values) {
        value += 10 * comm.rank();
      }
      const std::vector<double> before = values;
      std::vector<double> part(static_cast<std::size_t>(comm.rank()));
      comm.reduce_scatter<double>(everyone(comm), values, part, growing_parts(world),
                                  site_of("scatter"));
      // part r: sum over s of (r + 10 s) = r P + 10 P (P - 1) / 2
      EXPECT_THAT(part, Each(comm.rank() * world + 10 * world * (world - 1) / 2));
      EXPECT_EQ(values, before);
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

TEST_P(Transport, AllToAllMovesUnequalPartsBothWays) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      // Rank r sends s elements 100 r + s to rank s, so it receives r elements from everyone.
      std::vector<double> in;
      for (int to = 0; to < world; ++to) {
        in.insert(in.end(), static_cast<std::size_t>(to), 100.0 * comm.rank() + to);
      }
      std::vector<double> out(static_cast<std::size_t>(comm.rank() * world), -1);
      Collective request = call_of(CollectiveKind::all_to_all, everyone(comm));
      request.input = doubles(in);
      request.output = doubles(out);
      request.input_parts = growing_parts(world);
      request.output_parts.assign(static_cast<std::size_t>(world), comm.rank());
      carry_out(comm, request);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const auto from = static_cast<double>(i / static_cast<std::size_t>(comm.rank()));
        EXPECT_EQ(out[i], 100.0 * from + comm.rank());
      }
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

TEST_P(Transport, BroadcastCopiesTheRootsValues) {
  for (const int world : kWorlds) {
    const auto thrown = errors(world, [&](Comm& comm) {
      std::vector<double> values = {1.0 * comm.rank(), 2.0 * comm.rank(), 3.0 * comm.rank()};
      const int root = world - 1;
      Collective request = call_of(CollectiveKind::broadcast, everyone(comm), root);
      request.input = request.output = doubles(values);
      carry_out(comm, request);
      EXPECT_EQ(values, (std::vector<double>{1.0 * root, 2.0 * root, 3.0 * root}));
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

void pass_around_the_ring(Comm& comm) {
  const int right = (comm.rank() + 1) % comm.world();
  const int left = (comm.rank() + comm.world() - 1) % comm.world();
  std::vector<double> in(3, comm.rank());
  std::vector<double> out(3, -1);
  Collective receive = call_of(CollectiveKind::receive, everyone(comm), left);
  receive.output = doubles(out);
  Collective send = call_of(CollectiveKind::send, everyone(comm), right);
  send.input = doubles(in);
  const Ticket received = comm.start(receive);
  const Ticket sent = comm.start(send);
  comm.wait(sent);
  in.assign(3, -7);  // after the wait the buffer is the caller's again
  comm.wait(received);
  EXPECT_THAT(out, Each(left));
}

TEST_P(Transport, ARingThatReceivesBeforeItSendsDoesNotBlock) {
  for (const int world : {2, 3, 8}) {
    EXPECT_THAT(errors(world, pass_around_the_ring), Each(IsEmpty()));
  }
}

TEST_P(Transport, MessagesArriveInTheOrderInWhichTheyWereSentEmptyOnesToo) {
  const auto thrown = errors(2, [](Comm& comm) {
    for (const std::size_t count : {3U, 0U, 5U}) {
      std::vector<double> values(count, comm.rank() == 0 ? static_cast<double>(count) : -1.0);
      const bool sends = comm.rank() == 0;
      Collective call = call_of(sends ? CollectiveKind::send : CollectiveKind::receive,
                                everyone(comm), sends ? 1 : 0);
      (sends ? call.input : call.output) = doubles(values);
      carry_out(comm, call);
      EXPECT_THAT(values, Each(static_cast<double>(count)));
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, AMessageBringsItsSendersClock) {
  const auto thrown = errors(2, [](Comm& comm) {
    std::vector<double> values(3, 1.0);
    if (comm.rank() == 0) {
      comm.send<double>(everyone(comm), 1, values, 41, site_of("message"));
    } else {
      EXPECT_EQ(comm.receive<double>(everyone(comm), 0, values, site_of("message")), 41);
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, SumsInTheGroupsOrderNotTheWorlds) {
  for (const auto& [order, expected] : std::vector<std::pair<std::vector<int>, double>>{
           {{0, 1, 2}, kBig}, {{2, 1, 0}, kBig + 2}, {{1, 0, 2}, kBig}}) {
    const auto thrown = errors(3, [&](Comm& comm) {
      const CommGroup group = group_of(order, comm.rank());
      const std::vector<double> values(5, comm.rank() == 0 ? kBig : 1.0);
      std::vector<double> sum = values;
      comm.all_reduce<double>(group, sum, ReduceOp::sum, site_of("sum"));
      EXPECT_THAT(sum, Each(expected));
      std::vector<double> part(group.index == 0 ? 5 : 0);
      comm.reduce_scatter<double>(group, values, part, {5, 0, 0}, site_of("scatter"));
      EXPECT_THAT(part, Each(expected));
    });
    EXPECT_THAT(thrown, Each(IsEmpty()));
  }
}

// dp2 x tp2 x 2 on 8 ranks, tp fastest: groups with strides 1, 2 and 4 and every offset, one after
// the other on every rank, several times over.
TEST_P(Transport, StridedGroupsWorkSideBySide) {
  const auto thrown = errors(8, [](Comm& comm) {
    for (int round = 0; round < 50; ++round) {
      for (const int stride : {1, 2, 4}) {
        const int low = comm.rank() - comm.rank() / stride % 2 * stride;
        std::vector<double> values(3, 1000.0 * round + comm.rank());
        comm.all_reduce<double>(group_of({low, low + stride}, comm.rank()), values, ReduceOp::sum,
                                site_of("stride" + std::to_string(stride)));
        EXPECT_THAT(values, Each(2000.0 * round + 2 * low + stride));
      }
      comm.barrier(everyone(comm), site_of("round"));
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

TEST_P(Transport, UnequalGroupsNeedNotWaitForEachOther) {
  const auto thrown = errors(8, [](Comm& comm) {
    const bool odd_group = comm.rank() == 1 || comm.rank() == 4 || comm.rank() == 6;
    const int rounds = odd_group ? 200 : 3;
    const std::vector<int> ranks =
        odd_group ? std::vector<int>{6, 1, 4} : std::vector<int>{0, 2, 3, 5, 7};
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::int64_t> values = {comm.rank()};
      comm.all_reduce<std::int64_t>(group_of(ranks, comm.rank()), values, ReduceOp::sum,
                                    site_of("sum"));
      EXPECT_EQ(values[0], odd_group ? 11 : 17);
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

// The clock is one for all processes of a machine.
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TEST_P(Transport, BarrierLetsNobodyThroughBeforeTheLastHasCome) {
  const auto thrown = errors(8, [](Comm& comm) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<double> came = {seconds_now()};
      comm.barrier(everyone(comm), site_of("barrier"));
      const double left = seconds_now();
      std::vector<double> all(8);
      comm.all_gather<double>(everyone(comm), came, all, std::vector<std::int64_t>(8, 1),
                              site_of("times"));
      EXPECT_GE(left, *std::max_element(all.begin(), all.end()));
    }
  });
  EXPECT_THAT(thrown, Each(IsEmpty()));
}

}  // namespace
}  // namespace meshparity
