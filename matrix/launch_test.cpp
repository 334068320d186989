#include "matrix/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using std::chrono::milliseconds;

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  std::vector<std::string> shell(const std::string& script) { return {"/bin/sh", "-c", script}; }
  std::filesystem::path log() const { return folder_ / "log"; }

  std::filesystem::path folder_;
};

TEST_F(LaunchTest, ReadsLinesThenTheEnd) {
  Launch launch(shell("echo one; echo two"), log());

  std::string first, second, none;
  ASSERT_EQ(launch.read_line(first, milliseconds(5000)), Launch::Read::line);
  ASSERT_EQ(launch.read_line(second, milliseconds(5000)), Launch::Read::line);
  ASSERT_EQ(launch.read_line(none, milliseconds(5000)), Launch::Read::end);

  EXPECT_EQ(first, "one");
  EXPECT_EQ(second, "two");
  EXPECT_TRUE(launch.wait().clean());
}

TEST_F(LaunchTest, SaysWhenNothingCameInTime) {
  Launch launch(shell("exec sleep 60"), log());

  std::string line;

  EXPECT_EQ(launch.read_line(line, milliseconds(20)), Launch::Read::nothing_yet);
}

TEST_F(LaunchTest, NamesTheSignalThatKilledIt) {
  Launch launch(shell("kill -SEGV $$"), log());

  EXPECT_EQ(describe(launch.wait()), "was killed by SIGSEGV (signal 11)");
}

TEST_F(LaunchTest, GivesTheExitCode) {
  Launch launch(shell("exit 7"), log());

  EXPECT_EQ(launch.wait().exit_code, 7);
  EXPECT_EQ(describe(launch.wait()), "ended with exit code 7");
}

TEST_F(LaunchTest, SaysWhyAProgramCannotBeStarted) {
  const std::string absent = (folder_ / "absent").string();

  try {
    Launch launch({absent, "--jobs", "x"}, log());
    FAIL() << "it started";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "starting " + absent + ": No such file or directory");
  }
}

TEST_F(LaunchTest, KillsWhatTheChildStarted) {
  // The grandchild holds the output pipe: only its death brings the end.
  Launch launch(shell("sleep 60 & echo begun; wait"), log());
  std::string line;
  ASSERT_EQ(launch.read_line(line, milliseconds(5000)), Launch::Read::line);

  launch.kill();

  EXPECT_EQ(launch.read_line(line, milliseconds(5000)), Launch::Read::end);
  EXPECT_EQ(launch.wait().signal, 9);
}

TEST_F(LaunchTest, KeepsTheLastLinesOfStandardError) {
  Launch launch(shell("for i in 1 2 3; do echo line $i >&2; done; echo >&2"), log());
  launch.wait();

  EXPECT_EQ(last_lines(log(), 2), "line 2 | line 3");
}

TEST_F(LaunchTest, KeepsTheSummaryOfASanitizerToo) {
  Launch launch(shell("for i in begun 'SUMMARY: overflow' legend end; do echo $i >&2; done"),
                log());
  launch.wait();

  EXPECT_EQ(last_lines(log(), 1), "SUMMARY: overflow | end");
  EXPECT_EQ(last_lines(log(), 3), "SUMMARY: overflow | legend | end");
}

}  // namespace
}  // namespace meshparity
