// NcclComm against a NCCL that is none (nccl_fake.cpp): bootstrap, groups of calls, order of sums.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parallel_impl/comm/nccl_ranks.hpp"

namespace meshparity {
namespace {

using testing::Each;

TEST_F(Nccl, AllReduceSumsInOurOrderOnlyWhenAskedTo) {
  // (1 + 1e16) - 1e16 is 0; from the last rank to the first, as the fake sums, it is 1.
  for (const bool ordered : {true, false}) {
    EXPECT_THAT(errors(
                    3,
                    [ordered](NcclComm& comm) {
                      const double mine[] = {1, 1e16, -1e16};
                      std::vector<double> values = {mine[comm.rank()], 1};
                      sum(comm, values);
                      EXPECT_EQ(values, (std::vector<double>{ordered ? 0.0 : 1.0, 3}));
                    },
                    ordered),
                Each(""));
  }
  EXPECT_EQ(FakeGpu::get().calls("init that blocks"), 0);
}

TEST_F(Nccl, IntegersAndMaximaAreLeftToNcclInEitherCase) {
  EXPECT_THAT(errors(
                  2,
                  [](NcclComm& comm) {
                    std::vector<std::int64_t> counts = {comm.rank() + 1};
                    comm.all_reduce(everyone(comm), std::span(counts), ReduceOp::sum,
                                    site_of("tokens"));
                    EXPECT_EQ(counts.front(), 3);
                    std::vector<double> top = {comm.rank() - 1.0};
                    comm.all_reduce(everyone(comm), std::span(top), ReduceOp::max, site_of("top"));
                    EXPECT_EQ(top.front(), 0);
                  },
                  true),
              Each(""));
  EXPECT_EQ(FakeGpu::get().calls("ncclAllGather"), 0);
}

TEST_F(Nccl, GathersAndScattersOfUnequalPartsAreGroupsOfCalls) {
  for (const bool ordered : {true, false}) {
    EXPECT_THAT(errors(
                    2,
                    [](NcclComm& comm) {
                      const CommGroup all = everyone(comm);
                      const std::vector<std::int64_t> parts = {1, 2};
                      const std::vector<double> part(comm.rank() == 0 ? 1U : 2U, comm.rank() + 1.0);
                      std::vector<double> whole(3);
                      comm.all_gather(all, std::span(part), std::span(whole), parts, site_of("a"));
                      EXPECT_EQ(whole, (std::vector<double>{1, 2, 2}));
                      std::vector<double> own(part.size());
                      comm.reduce_scatter(all, std::span<const double>(whole), std::span(own),
                                          parts, site_of("b"));
                      EXPECT_EQ(own, std::vector<double>(part.size(), 2 * (comm.rank() + 1.0)));
                    },
                    ordered),
                Each(""));
  }
  EXPECT_GT(FakeGpu::get().calls("ncclReduce"), 0);
  EXPECT_EQ(FakeGpu::get().calls("ncclGroupStart"), FakeGpu::get().calls("ncclGroupEnd"));
}

TEST_F(Nccl, EqualPartsTakeTheCallsForThem) {
  EXPECT_THAT(
      errors(2,
             [](NcclComm& comm) {
               const CommGroup all = everyone(comm);
               const std::vector<double> part = {comm.rank() + 1.0};
               std::vector<double> whole(2);
               comm.all_gather(all, std::span(part), std::span(whole), {1, 1}, site_of("a"));
               EXPECT_EQ(whole, (std::vector<double>{1, 2}));
               std::vector<double> own(1);
               comm.reduce_scatter(all, std::span<const double>(whole), std::span(own), {1, 1},
                                   site_of("b"));
               EXPECT_EQ(own.front(), 2 * part.front());
             }),
      Each(""));
  EXPECT_EQ(FakeGpu::get().calls("ncclAllGather"), 2);
  EXPECT_EQ(FakeGpu::get().calls("ncclReduceScatter"), 2);
}

Collective exchange_of(Comm& comm, std::vector<double>& in, std::vector<double>& out) {
  Collective request;
  request.kind = CollectiveKind::all_to_all;
  request.group = everyone(comm);
  request.site = site_of("experts");
  request.input = doubles(in);
  request.output = doubles(out);
  request.input_parts = request.output_parts = {1, 1};
  return request;
}

TEST_F(Nccl, AllToAllAndBroadcastMoveWhatTheySay) {
  EXPECT_THAT(errors(2,
                     [](NcclComm& comm) {
                       std::vector<double> in = {10.0 * comm.rank(), 10.0 * comm.rank() + 1};
                       std::vector<double> out(2);
                       comm.carry_out(exchange_of(comm, in, out));
                       EXPECT_EQ(out, (std::vector<double>{1.0 * comm.rank(), 10.0 + comm.rank()}));
                       Collective tell = exchange_of(comm, in, in);
                       tell.kind = CollectiveKind::broadcast;
                       tell.peer = 1;
                       comm.carry_out(tell);
                       EXPECT_EQ(in, (std::vector<double>{10, 11}));
                     }),
              Each(""));
}

Collective message_of(Comm& comm, CollectiveKind kind, std::vector<double>& values) {
  Collective request;
  request.kind = kind;
  request.group = everyone(comm);
  request.peer = 1 - comm.rank();
  request.site = site_of("pp.activation", -1);
  (kind == CollectiveKind::send ? request.input : request.output) = doubles(values);
  return request;
}

TEST_F(Nccl, MessagesArriveInOrderAndASenderDoesNotWait) {
  EXPECT_THAT(
      errors(2,
             [](NcclComm& comm) {
               for (const double value : {1.0, 2.0}) {
                 std::vector<double> buffer = {comm.rank() == 0 ? value : 0};
                 comm.carry_out(message_of(
                     comm, comm.rank() == 0 ? CollectiveKind::send : CollectiveKind::receive,
                     buffer));
                 EXPECT_EQ(buffer.front(), value);
               }
             }),
      Each(""));
}

TEST_F(Nccl, AMessageBringsItsSendersClock) {
  EXPECT_THAT(errors(2,
                     [](NcclComm& comm) {
                       std::vector<double> values(3, 1.0);
                       const std::span all(values);
                       if (comm.rank() == 0) {
                         comm.send<double>(everyone(comm), 1, all, 41, site_of("message"));
                       } else {
                         const Site site = site_of("message");
                         EXPECT_EQ(comm.receive<double>(everyone(comm), 0, all, site), 41);
                       }
                     }),
              Each(""));
}

TEST_F(Nccl, BuffersOnTheGpuStayThere) {
  EXPECT_THAT(errors(2,
                     [](NcclComm& comm) {
                       CudaStream stream;
                       double* data = nullptr;
                       cudaMallocAsync(reinterpret_cast<void**>(&data), 16, stream.get());
                       std::vector<double> values = {1, comm.rank() * 1.0};
                       stream.copy(values.data(), data, 16, "a test");
                       stream.finish("a test");
                       comm.all_reduce(everyone(comm), std::span(data, 2), ReduceOp::sum,
                                       site_of("mlp.down"));
                       stream.copy(data, values.data(), 16, "a test");
                       stream.finish("a test");
                       EXPECT_EQ(values, (std::vector<double>{2, 1}));
                     }),
              Each(""));
}

}  // namespace
}  // namespace meshparity
