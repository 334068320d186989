#include "matrix/run_jobs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <mutex>

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

class RunJobs : public testing::Test {
 protected:
  RunJobs() {
    folder_ = fs::path(testing::TempDir()) / ("run_jobs_" + name());
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "launches");
    settings_ = {FAKE_PROGRAM, folder_ / "launches", 1, 400ms, {}};
  }
  static std::string name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  /// Seeds as fake_program.cpp lists them; 1 is a case without harm.
  void run(const std::vector<int>& seeds) {
    std::vector<Job> jobs;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const std::string features = seeds[i] == 1 ? "plain" : fmt::format("seed{}", seeds[i]);
      Job job;
      job.case_id = fmt::format("gpt-tiny.dp2.{}.fp64.host-threads", features);
      job.out = folder_ / fmt::format("case{}", i);
      job.models = "unused";
      job.commit = "none";
      fs::create_directories(job.out);
      jobs.push_back(job);
    }
    JobHooks hooks;
    hooks.begun = [&](std::size_t) {};
    hooks.note = [&](const std::string& text) { notes_.push_back(text); };
    hooks.ended = [&](std::size_t job, const LaunchOutcome& outcome, double) {
      const std::lock_guard lock(mutex_);
      EXPECT_TRUE(outcomes_.emplace(job, outcome).second) << "job " << job << " ended twice";
    };
    run_jobs(jobs, settings_, hooks);
    EXPECT_EQ(outcomes_.size(), seeds.size());
  }
  std::ptrdiff_t launches() const {
    std::ptrdiff_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "launches")) {
      count += entry.path().extension() == ".jobs" ? 1 : 0;
    }
    return count;
  }

  fs::path folder_;
  LaunchSettings settings_;
  std::mutex mutex_;
  std::map<std::size_t, LaunchOutcome> outcomes_;
  std::vector<std::string> notes_;
};

TEST_F(RunJobs, FinishesWhatBehaves) {
  run({1, 1, 1, 1, 1});

  for (const auto& [job, outcome] : outcomes_) {
    EXPECT_TRUE(outcome.finished) << job << outcome.what;
  }
  EXPECT_TRUE(fs::exists(folder_ / "case4" / "rank_0001.h5"));
  EXPECT_THAT(notes_, testing::IsEmpty());
}

TEST_F(RunJobs, GivesTheSignalToTheCaseInFlightAndGoesOn) {
  run({1, 11, 1, 1, 1, 1});

  EXPECT_THAT(outcomes_[1].what, HasSubstr("was killed by SIGSEGV (signal 11)"));
  EXPECT_THAT(outcomes_[1].what, HasSubstr("about to fall"));
  EXPECT_FALSE(outcomes_[1].finished);
  EXPECT_FALSE(outcomes_[1].never_began);
  for (const std::size_t job : {0, 2, 3, 4, 5}) {
    EXPECT_TRUE(outcomes_[job].finished) << job << outcomes_[job].what;
  }
}

TEST_F(RunJobs, GivesTheExitCodeToTheCaseInFlight) {
  run({14, 1});

  EXPECT_THAT(outcomes_[0].what, HasSubstr("fake_program ended with exit code 3"));
  EXPECT_TRUE(outcomes_[1].finished);
}

TEST_F(RunJobs, BlamesTheCaseThatCorruptsMemoryAloneAndGoesOn) {
#ifdef FAKE_PROGRAM_THAT_NOTICES
  settings_.program = FAKE_PROGRAM_THAT_NOTICES;
  settings_.time_limit = 20s;  // a sanitizer takes its time to say what it saw
  run({1, 23, 1, 1, 1});

  EXPECT_FALSE(outcomes_[1].finished);
  EXPECT_FALSE(outcomes_[1].never_began);
  EXPECT_THAT(outcomes_[1].what, HasSubstr("AddressSanitizer: heap-buffer-overflow"));
  for (const std::size_t job : {0, 2, 3, 4}) {
    EXPECT_TRUE(outcomes_[job].finished) << job << outcomes_[job].what;
  }
#else
  GTEST_SKIP() << "this compiler has no AddressSanitizer, or the build has another sanitizer";
#endif
}

TEST_F(RunJobs, KillsACaseWhoseBoardStandsStillAndSaysWhoWaitsWhere) {
  run({1, 12, 1, 1});

  EXPECT_FALSE(outcomes_[1].finished);
  EXPECT_FALSE(outcomes_[1].never_began);
  EXPECT_EQ(outcomes_[1].rank, 1);  // rank 0 waits for it
  EXPECT_THAT(outcomes_[1].what, StartsWith("nothing moved for 0.4 s: rank 1 has not begun"));
  EXPECT_THAT(outcomes_[1].what, HasSubstr("rank 0 waits at layer0.mlp.down/forward in tp: 0 1"));
  EXPECT_TRUE(outcomes_[2].finished);
  EXPECT_TRUE(outcomes_[3].finished);
}

// mpirun looks up the machine's name and brings its processes together.
TEST_F(RunJobs, WaitsLongerForTheFirstWordOfAStarter) {
  settings_.starter = {"/bin/sh", "-c", "sleep 1; exec \"$@\"", "sh"};

  run({1, 12, 1});

  EXPECT_TRUE(outcomes_[0].finished) << outcomes_[0].what;
  EXPECT_THAT(outcomes_[1].what, StartsWith("nothing moved for 0.4 s"));
}

TEST_F(RunJobs, LetsACaseRunThatMovesLongerThanTheLimit) {
  run({17});

  EXPECT_TRUE(outcomes_[0].finished) << outcomes_[0].what;
}

TEST_F(RunJobs, PassesOnTheErrorThatAProgramTells) {
  run({13, 1});

  EXPECT_EQ(outcomes_[0].what, "rank 1 gave up");
  EXPECT_EQ(outcomes_[0].rank, 1);
  EXPECT_EQ(outcomes_[0].coordinate, "dp1");
  EXPECT_TRUE(outcomes_[1].finished);
  EXPECT_EQ(launches(), 1);  // the program went on by itself
}

TEST_F(RunJobs, TakesACaseThatIsWrittenWhileTheNextOneRuns) {
  run({18, 18, 1, 18});

  for (const auto& [job, outcome] : outcomes_) {
    EXPECT_TRUE(outcome.finished) << job << outcome.what;
  }
  EXPECT_EQ(launches(), 1);
  EXPECT_THAT(notes_, testing::IsEmpty());
}

TEST_F(RunJobs, BlamesTheCaseThatComputesAndRunsTheWrittenOneAgain) {
  run({18, 11, 1});

  EXPECT_THAT(outcomes_[1].what, HasSubstr("was killed by SIGSEGV"));
  EXPECT_THAT(outcomes_[1].what, HasSubstr("run again: gpt-tiny.dp2.seed18.fp64.host-threads"));
  EXPECT_TRUE(outcomes_[0].finished) << outcomes_[0].what;
  EXPECT_TRUE(outcomes_[2].finished);
  EXPECT_TRUE(fs::exists(folder_ / "case0" / "rank_0001.h5"));
  EXPECT_EQ(launches(), 2);
}

TEST_F(RunJobs, NotesAnEventOfACaseThatHasEnded) {
  run({19, 1});

  EXPECT_TRUE(outcomes_[0].finished);
  EXPECT_TRUE(outcomes_[1].finished);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0], "fake_program spoke of job 0, which is not due; ignored");
}

TEST_F(RunJobs, NeverBeginsWhenTheProgramDoesNotExist) {
  settings_.program = folder_ / "absent";

  run({1, 1, 1, 1, 1, 1, 1, 1});

  for (const auto& [job, outcome] : outcomes_) {
    EXPECT_TRUE(outcome.never_began);
    EXPECT_THAT(outcome.what, HasSubstr("absent: No such file or directory"));
  }
  EXPECT_EQ(launches(), 3);
}

TEST_F(RunJobs, NeverBeginsACaseThatItsProgramStandsBefore) {
  run({15, 1});

  EXPECT_TRUE(outcomes_[0].never_began);
  EXPECT_THAT(outcomes_[0].what, HasSubstr("fake_program began no case for 0.4 s"));
  EXPECT_TRUE(outcomes_[1].finished);
}

TEST_F(RunJobs, NotesAProgramThatFallsAfterItsLastCase) {
  run({16});

  EXPECT_TRUE(outcomes_[0].finished);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_THAT(notes_[0], HasSubstr("after its last case fake_program ended with exit code 5"));
}

TEST_F(RunJobs, StopsAtTheDeadline) {
  settings_.deadline = std::chrono::steady_clock::now() + 300ms;
  settings_.time_limit = 60s;

  run({17, 1, 1});

  for (const auto& [job, outcome] : outcomes_) {
    EXPECT_TRUE(outcome.never_began) << job;
    EXPECT_THAT(outcome.what, HasSubstr("total budget"));
  }
}

TEST_F(RunJobs, KeepsTheChatterOfTheProgramInItsLog) {
  run({1});

  std::ifstream log(folder_ / "launches" / "launch0000.log");
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(line, "a library says hello");
}

TEST_F(RunJobs, RunsLaunchesSideBySide) {
  settings_.side_by_side = 4;
  const auto begun = std::chrono::steady_clock::now();

  run({17, 17, 17, 17});

  EXPECT_LT(std::chrono::steady_clock::now() - begun, 6s);  // 8 s one after the other
}

}  // namespace
}  // namespace meshparity
