#include "parallel_impl/worker/forked_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fixtures/board.hpp"
#include "parallel_impl/comm/thread_world.hpp"
#include "parallel_impl/worker/run_jobs.hpp"
#include "parallel_impl/worker/small_case.hpp"

namespace meshparity {
namespace {

using testing::Each;
using testing::Field;
using testing::HasSubstr;

constexpr const char* kDp2Tp2 = "gpt-micro.dp2-tp2.plain.fp64.host-procs";
constexpr const char* kTp2 = "gpt-micro.tp2.plain.fp64.host-procs";
constexpr const char* kThreads = "gpt-micro.tp2.plain.fp64.host-threads";

std::optional<RankFailure> run(const Job& job, const RankBody& body) {
  return run_forked_case(load_case(job), body, kDefaultTimeLimit);
}

TEST(ForkedCase, EveryProcessWritesItsOwnFile) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kDp2Tp2, "case");

  ASSERT_EQ(run(job, sum_of_ranks), std::nullopt);

  for (int rank = 0; rank < 4; ++rank) {
    const DumpReader reader(job.out / rank_file_name(rank));
    EXPECT_EQ(reader.header().case_id, kDp2Tp2);
    EXPECT_EQ(reader.header().rank, rank);
    EXPECT_EQ(reader.header().dense_coordinate, (std::array<int, 6>{rank / 2, rank % 2}));
    EXPECT_EQ(reader.read(reader.pieces()[2]), std::vector<double>{10});  // 0+1+2+3 + 4 * 1
    EXPECT_EQ(reader.ledgers().collectives.size(), 3U);
  }
  EXPECT_THAT(read_board(job.out / "board.bin"), Each(Field(&BoardLine::state, RankState::ended)));
}

TEST(ForkedCase, ARankThatThrowsIsTheFailureAndLeavesABoardAndNoFiles) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kDp2Tp2, "case");

  const std::optional<RankFailure> failure = run(job, [](const RankContext& context) {
    sum_of_ranks(context);
    if (context.mesh.rank() == 2) {
      throw std::runtime_error("no such luck");
    }
  });

  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->rank, 2);
  EXPECT_EQ(failure->coordinate, "dp1 tp0");
  EXPECT_EQ(failure->what, "no such luck");
  EXPECT_EQ(read_board(job.out / "board.bin")[2].state, RankState::failed);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_FALSE(std::filesystem::exists(job.out / rank_file_name(rank))) << rank;
  }
}

TEST(ForkedCase, AKilledRankIsTheFailure) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kDp2Tp2, "case");

  const std::optional<RankFailure> failure = run(job, [](const RankContext& context) {
    if (context.mesh.rank() == 3) {
      ::raise(SIGKILL);
    }
    sum_of_ranks(context);
  });

  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->rank, 3);
  EXPECT_EQ(failure->coordinate, "dp1 tp1");
  EXPECT_EQ(failure->what, "was killed by SIGKILL (signal 9)");
}

TEST(ForkedCase, AMessageThatNobodyTookIsAFailureAndLeavesNoFiles) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kTp2, "case");

  const std::optional<RankFailure> failure = run(job, [](const RankContext& context) {
    if (context.mesh.rank() == 0) {
      Collective send;
      send.kind = CollectiveKind::send;
      send.group = context.mesh.group({Axis::tp});
      send.peer = 1;
      context.comm.carry_out(send);
    }
  });

  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->what, "1 messages were sent and never received");
  EXPECT_FALSE(std::filesystem::exists(job.out / rank_file_name(0)));
}

// The writer of the first case is a thread; it has ended before the second forks.
TEST(ForkedCase, RunsBesideCasesOnThreadsInOneLaunch) {
  const ScratchFolder folder;
  std::vector<Job> jobs;
  for (const std::string id : {kThreads, kTp2, kThreads, kDp2Tp2, kTp2}) {
    jobs.push_back(small_job(folder, id, std::to_string(jobs.size())));
  }
  std::ostringstream events;

  EXPECT_TRUE(run_jobs(jobs, sum_of_ranks, kDefaultTimeLimit, events));

  for (const Job& job : jobs) {
    EXPECT_NO_THROW(DumpReader(job.out / rank_file_name(1)));
  }
  const std::string text = events.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(ForkedCase, ALaunchGoesOnAfterAKilledRank) {
  const ScratchFolder folder;
  const std::vector<Job> jobs = {small_job(folder, kDp2Tp2, "a"), small_job(folder, kTp2, "b")};
  std::ostringstream events;

  const bool done = run_jobs(
      jobs,
      [](const RankContext& context) {
        if (context.mesh.world() == 4 && context.mesh.rank() == 1) {
          ::raise(SIGKILL);
        }
        sum_of_ranks(context);
      },
      kDefaultTimeLimit, events);

  EXPECT_FALSE(done);
  EXPECT_THAT(events.str(), HasSubstr("was killed by SIGKILL"));
  EXPECT_NO_THROW(DumpReader(jobs[1].out / rank_file_name(1)));
}

}  // namespace
}  // namespace meshparity
