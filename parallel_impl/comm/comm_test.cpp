// What Comm itself does for every transport: the ledger, the board, groups of one, and the refusal
// of requests that do not fit together.
#include "parallel_impl/comm/comm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "parallel_impl/comm/rank_calls.hpp"

namespace meshparity {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Site, IsWrittenWithItsLayerOnlyInsideTheBlocks) {
  EXPECT_EQ(format_site({1, "mlp.down", "forward"}), "layer1.mlp.down/forward");
  EXPECT_EQ(format_site({-1, "loss.max", "forward"}), "loss.max/forward");
}

TEST(CommLedger, HoldsEveryCallInTheOrderOfTheProgram) {
  const auto errors = on_ranks(3, [](ThreadComm& comm) {
    const CommGroup group = group_of({2, 0, 1}, comm.rank(), "dp,cp");
    std::vector<float> values(7);
    comm.all_reduce<float>(group, values, ReduceOp::sum, {1, "attn.out", "backward", 2, 3});
    std::vector<double> part(1);
    std::vector<double> all(3);
    comm.all_gather<double>(group, part, all, {1, 1, 1}, site_of("gather", -1));
    comm.barrier(group, site_of("end", -1));

    ASSERT_EQ(comm.ledger().size(), 3U);
    const CollectiveRow& sum = comm.ledger()[0];
    EXPECT_EQ(sum.sequence, 1);
    EXPECT_EQ(sum.site, "layer1.attn.out/backward");
    EXPECT_EQ(sum.kind, "all_reduce");
    EXPECT_EQ(sum.axis, "dp,cp");
    EXPECT_EQ(sum.group, "2 0 1");
    EXPECT_EQ(sum.count, 7);
    EXPECT_EQ(sum.type, "float32");
    EXPECT_EQ(sum.bytes, 28);
    EXPECT_EQ(sum.phase, "backward");
    EXPECT_EQ(sum.step, 2);
    EXPECT_EQ(sum.mb, 3);
    const CollectiveRow& gather = comm.ledger()[1];
    EXPECT_EQ(gather.kind, "all_gather");
    EXPECT_EQ(gather.count, 3);
    EXPECT_EQ(gather.bytes, 24);
    EXPECT_EQ(comm.ledger()[2].kind, "barrier");
    EXPECT_EQ(comm.ledger()[2].bytes, 0);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(CommLedger, ClocksRunForwardAndReachIntoTheWait) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    std::vector<double> values(2);
    Collective sum = call_of(CollectiveKind::all_reduce, everyone(comm));
    sum.input = sum.output = doubles(values);
    const Ticket first = comm.start(sum);
    const Ticket second = comm.start(sum);
    comm.wait(first);
    comm.wait(second);

    const std::vector<CollectiveRow>& rows = comm.ledger();
    EXPECT_EQ(rows[0].logical_start, 0);
    EXPECT_EQ(rows[1].logical_start, 1);
    EXPECT_EQ(rows[0].logical_end, 2);
    EXPECT_EQ(rows[1].logical_end, 3);
    EXPECT_GE(rows[0].wall_start, 0);
    EXPECT_GE(rows[1].wall_start, rows[0].wall_start);
    EXPECT_GE(rows[0].wall_end, rows[1].wall_start);
    EXPECT_GE(rows[1].wall_end, rows[0].wall_end);
    comm.clear_ledger();
    EXPECT_TRUE(comm.ledger().empty());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(CommLedger, IsNotClearedWhileAnOperationIsUnderWay) {
  const auto errors = on_ranks(2, [](ThreadComm& comm) {
    const Ticket ticket = comm.start(call_of(CollectiveKind::barrier, everyone(comm)));
    EXPECT_THROW(comm.clear_ledger(), Error);
    comm.wait(ticket);
    EXPECT_THROW(comm.wait(ticket), Error);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(Comm, DoesAGroupOfOneAtOnceAndUnrecorded) {
  const auto errors = on_ranks(3, [](ThreadComm& comm) {
    const CommGroup alone = group_of({comm.rank()}, comm.rank());
    const std::vector<double> in = {1, 2, 3};
    std::vector<double> gathered(3);
    std::vector<double> scattered(3);
    std::vector<double> summed = in;
    comm.all_gather<double>(alone, in, gathered, {3}, site_of("gather"));
    comm.reduce_scatter<double>(alone, in, scattered, {3}, site_of("scatter"));
    comm.all_reduce<double>(alone, summed, ReduceOp::sum, site_of("sum"));
    comm.barrier(alone, site_of("end"));
    EXPECT_EQ(gathered, in);
    EXPECT_EQ(scattered, in);
    EXPECT_EQ(summed, in);
    EXPECT_TRUE(comm.ledger().empty());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(CommBoard, SaysWhichCollectiveARankIsIn) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "board.bin";
  BoardWriter board(file, 2);
  const auto errors = on_ranks(2, [&](ThreadComm& comm) {
    comm.attach_board(&board);
    comm.barrier(everyone(comm), site_of("first", -1));
    if (comm.rank() == 0) {
      comm.barrier(everyone(comm), {1, "mlp.down", "forward"});
      return;
    }
    BoardLine peer;
    while (peer.sequence < 2) {
      peer = read_board(file)[0];
    }
    EXPECT_EQ(peer.state, RankState::waiting);
    EXPECT_EQ(peer.site, "layer1.mlp.down/forward");
    EXPECT_EQ(peer.group, "tp: 0 1");
    comm.barrier(everyone(comm), {1, "mlp.down", "forward"});
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
  for (const BoardLine& line : read_board(file)) {
    EXPECT_EQ(line.state, RankState::running);
    EXPECT_EQ(line.sequence, 2U);
  }
}

std::string refusal(const Collective& request, int rank) {
  try {
    require_well_formed(request, rank);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Collective, IsRefusedUnlessItsPartsFitTogether) {
  std::vector<double> three(3);
  std::vector<double> two(2);
  Collective gather = call_of(CollectiveKind::all_gather, group_of({0, 1}, 1));
  gather.input = doubles(two);
  gather.output = doubles(three);
  gather.output_parts = {1, 2};
  EXPECT_EQ(refusal(gather, 1), "");
  EXPECT_EQ(refusal(gather, 0),
            "rank 0: all_gather at layer0.test/forward: the group does not hold this rank at its "
            "index");

  gather.output_parts = {2, 1};
  EXPECT_THAT(refusal(gather, 1), HasSubstr("the input is not this rank's part"));
  gather.output_parts = {2, 2};
  EXPECT_THAT(refusal(gather, 1), HasSubstr("the parts do not fill the output"));
  gather.output_parts = {3};
  EXPECT_THAT(refusal(gather, 1), HasSubstr("one output part a rank"));
  gather.output_parts = {4, -1};
  EXPECT_THAT(refusal(gather, 1), HasSubstr("one output part a rank"));
  gather.output_parts = {1, 2};
  gather.output.type = ElementType::int64;
  EXPECT_THAT(refusal(gather, 1), HasSubstr("one element type"));
}

TEST(Collective, IsRefusedWithoutAPeerOrWithTwoBuffersForASum) {
  std::vector<double> a(2);
  std::vector<double> b(2);
  Collective sum = call_of(CollectiveKind::all_reduce, group_of({0, 1}, 0));
  sum.input = doubles(a);
  sum.output = doubles(b);
  EXPECT_THAT(refusal(sum, 0), HasSubstr("input and output are one buffer"));
  const CommGroup pair = group_of({0, 1}, 0);
  EXPECT_THAT(refusal(call_of(CollectiveKind::send, pair, 2), 0), HasSubstr("no index"));
  EXPECT_THAT(refusal(call_of(CollectiveKind::broadcast, pair), 0), HasSubstr("no index"));
  EXPECT_THAT(refusal(call_of(CollectiveKind::receive, pair, 0), 0), HasSubstr("rank itself"));
  EXPECT_EQ(refusal(call_of(CollectiveKind::receive, pair, 1), 0), "");
}

TEST(Collective, IsRefusedWhenScatteredPartsDoNotFit) {
  std::vector<double> three(3);
  std::vector<double> two(2);
  Collective scatter = call_of(CollectiveKind::reduce_scatter, group_of({0, 1}, 1));
  scatter.input = doubles(three);
  scatter.output = doubles(two);
  scatter.output_parts = {1, 2};
  EXPECT_EQ(refusal(scatter, 1), "");
  scatter.output_parts = {2, 1};
  EXPECT_THAT(refusal(scatter, 1), HasSubstr("the output is not this rank's part"));
  scatter.output_parts = {2, 2};
  EXPECT_THAT(refusal(scatter, 1), HasSubstr("the parts do not fill the input"));

  Collective exchange = scatter;
  exchange.kind = CollectiveKind::all_to_all;
  exchange.input_parts = {2, 1};
  exchange.output_parts = {1, 1};
  EXPECT_EQ(refusal(exchange, 1), "");
  exchange.input_parts = {1, 1};
  EXPECT_THAT(refusal(exchange, 1), HasSubstr("the parts do not fill the input"));
  exchange.input_parts = {2, 1};
  exchange.output_parts = {1, 2};
  EXPECT_THAT(refusal(exchange, 1), HasSubstr("the parts do not fill the output"));
}

}  // namespace
}  // namespace meshparity
