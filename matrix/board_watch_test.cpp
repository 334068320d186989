#include "matrix/board_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

class BoardWatchTest : public testing::Test {
 protected:
  BoardWatchTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::filesystem::path folder_;
  BoardWatch::Clock::time_point start_{};
};

TEST_F(BoardWatchTest, CountsStillnessFromTheLastMovement) {
  BoardWriter board(folder_ / "board.bin", 2);
  BoardWatch watch(folder_, start_);

  EXPECT_EQ(watch.still_for(start_ + 3s), 3s);
  board.beat(1);
  EXPECT_EQ(watch.still_for(start_ + 4s), 0s);
  EXPECT_EQ(watch.still_for(start_ + 6s), 2s);
}

TEST_F(BoardWatchTest, TakesAGrowingDumpForMovement) {
  BoardWatch watch(folder_, start_);

  std::ofstream(folder_ / "rank_0000.h5") << "bytes";

  EXPECT_EQ(watch.still_for(start_ + 9s), 0s);
}

TEST_F(BoardWatchTest, CountsFromTheStartWithoutABoard) {
  BoardWatch watch(folder_ / "absent", start_);

  EXPECT_EQ(watch.still_for(start_ + 9s), 9s);
  EXPECT_TRUE(watch.lines().empty());
}

TEST(DescribeBoard, NamesTheRankThatTheOthersWaitFor) {
  std::vector<BoardLine> board(3);
  board[0] = {RankState::waiting, 18, 40, "layer0.mlp.down/forward", "tp: 0 1 2", "forward"};
  board[1] = {RankState::running, 17, 39, "layer0.attn.out/forward", "tp: 0 1 2", "forward"};
  board[2] = {RankState::waiting, 18, 40, "layer0.mlp.down/forward", "tp: 0 1 2", "forward"};

  const Standstill stands = describe_board(board);

  EXPECT_EQ(stands.rank, 1);
  EXPECT_THAT(stands.text, StartsWith("rank 1 runs in forward, last at layer0.attn.out/forward"));
  EXPECT_THAT(stands.text,
              HasSubstr("rank 2 waits at layer0.mlp.down/forward in tp: 0 1 2, call 18"));
}

TEST(DescribeBoard, PrefersARankThatDoesNotWait) {
  std::vector<BoardLine> board(2);
  board[0] = {RankState::waiting, 5, 9, "grad.dp/grad", "dp: 0 1", "grad"};
  board[1] = {RankState::ended, 5, 9, "", "", ""};

  EXPECT_EQ(describe_board(board).rank, 1);
}

TEST(DescribeBoard, TellsEightRanksAndCountsTheRest) {
  const std::vector<BoardLine> board(16);

  EXPECT_THAT(describe_board(board).text, HasSubstr("; and 8 ranks more"));
}

}  // namespace
}  // namespace meshparity
