#include "matrix/run_dir.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;

class RunDirTest : public testing::Test {
 protected:
  RunDirTest() {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  fs::path folder_;
};

TEST_F(RunDirTest, IsMadeWithItsParents) {
  const RunDir made = RunDir::create(folder_ / "a" / "b");

  EXPECT_TRUE(fs::is_directory(made.launches()));
  EXPECT_EQ(made.dump("id"), folder_ / "a" / "b" / "id" / "dump");
}

TEST_F(RunDirTest, TakesAnEmptyFolder) {
  EXPECT_NO_THROW(RunDir::create(folder_));
}

TEST_F(RunDirTest, RefusesAFolderThatIsNotEmptyAndLeavesItAlone) {
  std::ofstream(folder_ / "precious") << "x";

  EXPECT_THROW(RunDir::create(folder_), UsageError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(RunDirTest, RefusesAFolderThatCannotBeMade) {
  std::ofstream(folder_ / "file") << "x";

  EXPECT_THROW(RunDir::create(folder_ / "file" / "run"), UsageError);
}

TEST_F(RunDirTest, LinksTheLatestOfTwoRunsInOneSecond) {
  const RunDir first = RunDir::create_by_time(folder_);
  const RunDir second = RunDir::create_by_time(folder_);

  EXPECT_NE(first.root(), second.root());
  EXPECT_EQ(fs::canonical(folder_ / "latest"), fs::canonical(second.root()));
}

TEST_F(RunDirTest, KeepsAFolderThatIsNamedLatest) {
  fs::create_directory(folder_ / "latest");

  RunDir::create_by_time(folder_);

  EXPECT_FALSE(fs::is_symlink(folder_ / "latest"));
}

TEST_F(RunDirTest, ReadsBackItsPlan) {
  RunPlan plan;
  plan.command = "meshparity run --only \"*dp2*\"";
  plan.started = "2026-11-29T18-30-12Z";
  plan.commit = "abc clean";
  plan.cpu = "a cpu";
  plan.cores = 2;
  plan.level = "standard";
  plan.text = "/a/text";
  plan.cases = {"one", "two"};
  plan.relations = {{"rank_order", "one", "another"}};
  plan.covers = {{"my.toml:3", 2, 100, 9, 5, 3, 40, {{"dp4 with tp6", "world 24"}}}};
  plan.excluded = {{"three", "heads 24 do not divide by tp 5"}};

  write_plan(folder_ / "plan.json", plan);
  const RunPlan back = read_plan(folder_ / "plan.json");

  EXPECT_EQ(back.command, plan.command);
  EXPECT_EQ(back.started, plan.started);
  EXPECT_EQ(back.commit, plan.commit);
  EXPECT_EQ(back.cpu, plan.cpu);
  EXPECT_EQ(back.cores, 2);
  EXPECT_EQ(back.level, plan.level);
  EXPECT_EQ(back.text, plan.text);
  EXPECT_EQ(back.cases, plan.cases);
  EXPECT_EQ(back.relations, plan.relations);
  ASSERT_EQ(back.covers.size(), 1u);
  EXPECT_EQ(back.covers[0].origin, "my.toml:3");
  EXPECT_EQ(describe_cover(back.covers[0]), describe_cover(plan.covers[0]));
  EXPECT_EQ(back.covers[0].excluded, plan.covers[0].excluded);
  ASSERT_EQ(back.excluded.size(), 1u);
  EXPECT_EQ(back.excluded[0].id, "three");
  EXPECT_EQ(back.excluded[0].reason, plan.excluded[0].reason);
}

TEST_F(RunDirTest, RefusesAFileThatIsNoPlan) {
  std::ofstream(folder_ / "plan.json") << "{";

  EXPECT_THROW(read_plan(folder_ / "plan.json"), UsageError);
}

}  // namespace
}  // namespace meshparity
