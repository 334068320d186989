// NcclComm against a NCCL that is none (nccl_fake.cpp): what each failure ends in, an error
// that names rank and call, never a hang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "parallel_impl/comm/nccl_ranks.hpp"

namespace meshparity {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

TEST_F(Nccl, ABootstrapThatIsRefusedNamesRankAndCall) {
  FakeGpu::get().fail("ncclCommInitRankConfig", 1, ncclSystemError);

  const NcclOutcome outcome = run_on_nccl(2, false, sum_of_ones, milliseconds(400));

  EXPECT_THAT(outcome.first, AllOf(HasSubstr("rank "),
                                   HasSubstr("beginning NCCL for all_reduce of "
                                             "1 float64 at layer0.mlp.down"),
                                   HasSubstr("unhandled system error")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
}

TEST_F(Nccl, ABootstrapThatNeverEndsEndsWithTheLimit) {
  FakeGpu::get().fail("ncclCommInitRankConfig", 1, ncclInProgress);

  const NcclOutcome outcome = run_on_nccl(2, false, sum_of_ones, milliseconds(200));

  EXPECT_THAT(outcome.first, AllOf(HasSubstr("rank "), HasSubstr("beginning NCCL for all_reduce"),
                                   HasSubstr("nothing moved for")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
}

TEST_F(Nccl, AnIdThatCannotBeMadeEndsAllRanks) {
  FakeGpu::get().fail("ncclGetUniqueId", 1, ncclSystemError);

  const NcclOutcome outcome = run_on_nccl(2, false, sum_of_ones, milliseconds(400));

  EXPECT_THAT(outcome.first,
              AllOf(HasSubstr("rank 0 (r0), making an id of NCCL for all_reduce of 1 float64 at "),
                    HasSubstr("unhandled system error")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
}

TEST_F(Nccl, ACallThatIsRefusedNamesRankAndCall) {
  FakeGpu::get().fail("ncclAllReduce", 1, ncclInvalidUsage);

  const NcclOutcome outcome = run_on_nccl(2, false, sum_of_ones, milliseconds(400));

  EXPECT_THAT(outcome.first, AllOf(HasSubstr("rank "),
                                   HasSubstr("putting it on the GPU for all_reduce of 1 float64"),
                                   HasSubstr("what NCCL says of it")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
}

TEST_F(Nccl, AnAsynchronousErrorEndsTheCallAndAborts) {
  FakeGpu::get().fail("inside ncclAllReduce", 1, 1);

  const NcclOutcome outcome = run_on_nccl(2, false, sum_of_ones, milliseconds(400));

  EXPECT_THAT(outcome.first,
              AllOf(HasSubstr("rank "), HasSubstr("for all_reduce of 1 float64 at layer0.mlp.down"),
                    HasSubstr("unhandled system error")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
  EXPECT_EQ(FakeGpu::get().calls("ncclCommAbort"), 2);
}

TEST_F(Nccl, ACallThatNeverEndsEndsWithTheLimitAndAborts) {
  FakeGpu::get().fail("without end in ncclAllReduce", 3, 1);

  const NcclOutcome outcome = run_on_nccl(
      2, false,
      [](NcclComm& comm) {
        sum_of_ones(comm);
        sum_of_ones(comm);
      },
      milliseconds(200));

  EXPECT_THAT(outcome.first,
              AllOf(HasSubstr("rank "), HasSubstr("waiting on the GPU for all_reduce of 1 float64"),
                    HasSubstr("nothing moved for 200 ms")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
  EXPECT_EQ(FakeGpu::get().calls("ncclCommAbort"), 2);
}

TEST_F(Nccl, APeerThatThrewOrEnteredAnotherCallIsNamed) {
  const NcclOutcome threw = run_on_nccl(2, false, [](NcclComm& comm) {
    sum_of_ones(comm);
    if (comm.rank() == 1) {
      throw Error("out of ideas");
    }
    sum_of_ones(comm);
  });
  EXPECT_EQ(threw.first, "out of ideas");
  EXPECT_THAT(threw.errors[0], HasSubstr("rank 1 (r1)"));

  const NcclOutcome other = run_on_nccl(2, false, [](NcclComm& comm) {
    std::vector<double> values(comm.rank() == 0 ? 1U : 2U);
    sum(comm, values);
  });
  EXPECT_THAT(other.first, AllOf(HasSubstr("all_reduce of 1 at mlp.down"),
                                 HasSubstr("all_reduce of 2 at mlp.down")));
}

// To destroy a communicator waits for its other ranks, which may be gone.
TEST_F(Nccl, ACommunicatorOfARankThatFailedIsAbortedByThePeersThatHaveEnded) {
  std::promise<void> failed;
  run_on_nccl(2, false, [&](NcclComm& comm) {
    sum_of_ones(comm);
    if (comm.rank() == 1) {
      comm.poison("out of ideas");
      failed.set_value();
    } else {
      failed.get_future().wait_for(std::chrono::seconds(10));
    }
  });

  EXPECT_EQ(FakeGpu::get().calls("ncclCommAbort"), 2);
  EXPECT_EQ(FakeGpu::get().calls("ncclCommDestroy"), 0);
}

TEST_F(Nccl, AnErrorOfCudaNamesRankAndCall) {
  FakeGpu::get().fail("cudaEventQuery", 1, cudaErrorIllegalAddress);

  const NcclOutcome outcome = run_on_nccl(
      2, false,
      [](NcclComm& comm) {
        sum_of_ones(comm);
        sum_of_ones(comm);
      },
      milliseconds(400));

  EXPECT_THAT(outcome.first, AllOf(HasSubstr("rank "), HasSubstr("for all_reduce of 1 float64"),
                                   HasSubstr("cudaErrorIllegalAddress")));
  EXPECT_THAT(outcome.errors, Each(testing::Ne("")));
}

}  // namespace
}  // namespace meshparity
