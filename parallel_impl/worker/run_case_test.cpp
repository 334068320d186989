#include "parallel_impl/worker/run_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "fixtures/board.hpp"
#include "fixtures/error.hpp"
#include "parallel_impl/worker/small_case.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kDp2Tp2 = "gpt-micro.dp2-tp2.plain.fp64.host-threads";
constexpr const char* kTp2 = "gpt-micro.tp2.plain.fp64.host-threads";

CaseEvidence run(const Job& job, const RankBody& body) {
  return run_case(load_case(job), body, kDefaultTimeLimit);
}

TEST(RunCase, GivesEveryRankItsPlaceAndWritesOneFileEach) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kDp2Tp2, "case");

  const CaseEvidence evidence = run(job, sum_of_ranks);
  ASSERT_FALSE(evidence.failure.has_value());
  write_dump(job, evidence);

  for (int rank = 0; rank < 4; ++rank) {
    const DumpReader reader(job.out / rank_file_name(rank));
    const DumpHeader& header = reader.header();
    EXPECT_EQ(header.case_id, kDp2Tp2);
    EXPECT_EQ(header.commit, "0123abc clean");
    EXPECT_THAT(header.build, AllOf(HasSubstr("g++"), HasSubstr("-ffp-contract=off")));
    EXPECT_FALSE(header.cpu.empty());
    EXPECT_FALSE(header.determinism.empty());
    EXPECT_EQ(header.world, 4);
    EXPECT_EQ(header.rank, rank);
    EXPECT_EQ(header.dense_coordinate, (std::array<int, 6>{rank / 2, rank % 2, 0, 0, 0, 0}));
    EXPECT_EQ(header.level, Level::standard);
    ASSERT_EQ(reader.pieces().size(), 3U);
    EXPECT_EQ(reader.read(reader.pieces()[2]), std::vector<double>{10});  // 0+1+2+3 + 4 * 1
  }
}

TEST(RunCase, KeepsTheLedgerOfEveryRank) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kTp2, "case");

  write_dump(job, run(job, sum_of_ranks));

  const Ledgers ledgers = DumpReader(job.out / rank_file_name(1)).ledgers();
  ASSERT_EQ(ledgers.collectives.size(), 3U);
  EXPECT_EQ(ledgers.collectives[2].site, "layer0.mlp.down/forward");
  EXPECT_EQ(ledgers.collectives[2].axis, "dp,tp");
  EXPECT_EQ(ledgers.collectives[2].sequence, 3);
  EXPECT_EQ(ledgers.collectives[2].step, 2);
  EXPECT_TRUE(ledgers.events.empty());
}

TEST(RunCase, PlantsTheFaultsOfTheCaseAndTellsHowOftenTheyFired) {
  const ScratchFolder folder;
  const Job job =
      small_job(folder, std::string(kTp2) + "+skip_rowlinear_sum-l0-s1+rowbias_every_rank", "case");

  write_dump(job, run(job, sum_of_ranks));

  const DumpReader reader(job.out / rank_file_name(1));
  EXPECT_EQ(reader.read(reader.pieces()[0]), std::vector<double>{1});
  EXPECT_EQ(reader.read(reader.pieces()[1]), std::vector<double>{1.5});  // its own, not the sum 2
  const Ledgers ledgers = reader.ledgers();
  EXPECT_EQ(ledgers.collectives.size(), 2U);  // what was really done
  ASSERT_EQ(ledgers.events.size(), 2U);
  EXPECT_EQ(ledgers.events[0].kind, "fault");
  EXPECT_EQ(ledgers.events[0].site, "skip_rowlinear_sum");
  EXPECT_EQ(ledgers.events[0].value, 1);
  EXPECT_EQ(ledgers.events[1].site, "rowbias_every_rank");
  EXPECT_EQ(ledgers.events[1].value, 0);  // planted, never fired
}

TEST(RunCase, NamesTheRankThatThrewFirstAndShowsItOnTheBoard) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kDp2Tp2, "case");

  const CaseEvidence evidence = run(job, [](const RankContext& context) {
    if (context.mesh.rank() == 2) {
      throw std::runtime_error("no such luck");
    }
    sum_of_ranks(context);
  });

  ASSERT_TRUE(evidence.failure.has_value());
  EXPECT_EQ(evidence.failure->rank, 2);
  EXPECT_EQ(evidence.failure->coordinate, "dp1 tp0");
  EXPECT_EQ(evidence.failure->what, "no such luck");
  const std::vector<BoardLine> board = read_board(job.out / "board.bin");
  ASSERT_EQ(board.size(), 4U);
  for (const BoardLine& line : board) {
    EXPECT_EQ(line.state, RankState::failed);
  }
  EXPECT_EQ(board[0].site, "layer0.mlp.down/forward");
}

TEST(RunCase, LeavesABoardOnWhichAllRanksHaveEnded) {
  const ScratchFolder folder;
  const Job job = small_job(folder, kTp2, "case");

  run(job, sum_of_ranks);

  for (const BoardLine& line : read_board(job.out / "board.bin")) {
    EXPECT_EQ(line.state, RankState::ended);
    EXPECT_EQ(line.sequence, 3U);
  }
}

TEST(RunCase, CallsAMessageThatNobodyTookAFailure) {
  const ScratchFolder folder;
  const CaseEvidence evidence =
      run(small_job(folder, kTp2, "case"), [](const RankContext& context) {
        if (context.mesh.rank() == 0) {
          Collective send;
          send.kind = CollectiveKind::send;
          send.group = context.mesh.group({Axis::tp});
          send.peer = 1;
          context.comm.wait(context.comm.start(send));
        }
      });
  ASSERT_TRUE(evidence.failure.has_value());
  EXPECT_EQ(evidence.failure->what, "1 messages were sent and never received");
}

std::string refusal(const Job& job) {
  return message_of<UsageError>([&] { load_case(job); });
}

TEST(LoadCase, RefusesWhatCannotBeRunInOneSentence) {
  const ScratchFolder folder;
  Job job = small_job(folder, "gpt-micro.tp5.plain.fp64.host-threads", "a");
  EXPECT_THAT(refusal(job), HasSubstr("tp 5"));
  job.case_id = "gpt-micro.tp2.vis_report.fp64.host-threads";
  EXPECT_THAT(refusal(job), HasSubstr("not built yet"));
  job.case_id = std::string(kTp2) + "+no_such_fault";
  EXPECT_THAT(refusal(job), HasSubstr("no fault is named no_such_fault"));
  job.case_id = "no-model.tp2.plain.fp64.host-threads";
  EXPECT_THAT(refusal(job), HasSubstr("no-model"));
  job.case_id = "nonsense";
  EXPECT_NE(refusal(job), "");
}

TEST(LoadCase, RefusesAModelFileOfAnotherHash) {
  const ScratchFolder folder;
  const Job job = small_job(folder, "gpt-micro@0badf00d.tp2.plain.fp64.host-threads", "a");
  EXPECT_THAT(refusal(job), AllOf(HasSubstr("gpt-micro.toml"), HasSubstr("gpt-micro@0badf00d"),
                                  HasSubstr("this file's hash is")));
}

TEST(LoadCase, RefusesATextThatIsMissing) {
  const ScratchFolder folder;
  Job job = small_job(folder, "gpt-tiny.tp2.text_0badf00d.fp64.host-threads", "a");
  EXPECT_THAT(refusal(job), HasSubstr("--text"));
  job.text = folder / "absent.txt";
  EXPECT_THAT(refusal(job), HasSubstr("absent.txt"));
}

}  // namespace
}  // namespace meshparity
