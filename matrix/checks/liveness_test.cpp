#include "matrix/checks/liveness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/board.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

constexpr const char* kTp2 = "gpt-tiny.tp2.sgd-steps1.fp64.host-threads";

TEST(Liveness, ADeadLaunchDivergesAndTheOtherChecksSayNoEvidence) {
  MadeCase made(kTp2);
  Evidence evidence = made.write();
  evidence.outcome = {false, "killed by SIGKILL", 1, "tp1", false};

  const CaseReport report = judge(evidence);

  EXPECT_EQ(report.verdict, Verdict::diverges);
  ASSERT_EQ(report.checks.size(), kCheckNames.size());
  for (const CheckResult& result : report.checks) {
    EXPECT_EQ(result.evidence, result.check == "liveness");
  }
  const Finding finding = cause_of(report);
  EXPECT_EQ(finding.check, "liveness");
  EXPECT_EQ(finding.rank, 1);
  EXPECT_EQ(finding.coordinate, "tp1");
  EXPECT_EQ(finding.text, "killed by SIGKILL");
  EXPECT_EQ(finding.derivation, "no progress board");
}

TEST(Liveness, ALaunchThatNeverBeganIsInconclusive) {
  MadeCase made(kTp2);
  Evidence evidence = made.write();
  evidence.outcome = {false, "cannot start the program", -1, "", true};

  EXPECT_EQ(judge(evidence).verdict, Verdict::inconclusive);
}

TEST(Liveness, TheBoardTellsWhoWaitsWhereForWhom) {
  MadeCase made(kTp2);
  Evidence evidence = made.write();
  evidence.board = made.folder() / "board.bin";
  BoardWriter board(evidence.board, 2);
  board.set_state(0, RankState::running);
  board.set_state(1, RankState::running);
  board.enter(0, "layer0.attn.out/forward", "tp: 0 1");
  board.leave(0);
  board.enter(0, "layer0.mlp.down/forward", "tp: 0 1");
  board.enter(1, "layer0.attn.out/forward", "tp: 0 1");
  board.leave(1);
  evidence.outcome = {false, "nothing moved for 5 s", -1, "", false};

  const Finding finding = judge(evidence).checks.front().findings.at(0);

  EXPECT_EQ(finding.rank, 1);  // the one that does not wait
  EXPECT_THAT(
      finding.derivation,
      HasSubstr("rank 0 (tp0) waits at layer0.mlp.down/forward, collective 2, for tp: 0 1"));
  EXPECT_THAT(finding.derivation, HasSubstr("rank 1 (tp1) is running after "
                                            "layer0.attn.out/forward, collective 1"));
}

TEST(Liveness, WhereAllWaitTheOneBehindIsSuspected) {
  MadeCase made(kTp2);
  Evidence evidence = made.write();
  evidence.board = made.folder() / "board.bin";
  BoardWriter board(evidence.board, 2);
  board.enter(0, "a", "tp: 0 1");
  board.leave(0);
  board.enter(0, "b", "tp: 0 1");
  board.enter(1, "c", "tp: 0 1");
  evidence.outcome = {false, "nothing moved for 5 s", -1, "", false};

  EXPECT_EQ(judge(evidence).checks.front().findings.at(0).rank, 1);
}

TEST(Liveness, WhereAllRanksEndedNobodyIsSuspected) {
  MadeCase made(kTp2);
  Evidence evidence = made.write();
  evidence.board = made.folder() / "board.bin";
  BoardWriter board(evidence.board, 2);
  board.set_state(0, RankState::ended);
  board.set_state(1, RankState::ended);
  evidence.outcome = {false, "exit code 3", -1, "", false};

  EXPECT_EQ(judge(evidence).checks.front().findings.at(0).rank, -1);
}

TEST(Liveness, ALaunchThatEndedConforms) {
  Evidence evidence;
  evidence.spec = parse_case(kTp2);

  const CheckResult result = check_liveness(evidence);

  EXPECT_EQ(result.verdict, Verdict::conforms);
  EXPECT_EQ(result.compared, 2);
}

}  // namespace
}  // namespace meshparity
