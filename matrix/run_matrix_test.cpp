#include "matrix/run_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <mutex>
#include <set>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

const fs::path kModels = fs::path(__FILE__).parent_path().parent_path() / "fixtures" / "models";

class RunMatrix : public testing::Test {
 protected:
  RunMatrix() {
    folder_ = fs::path(testing::TempDir()) / ("run_matrix_" + name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    request_.programs = {FAKE_PROGRAM, FAKE_PROGRAM};
    request_.cache = folder_ / "cache";
    request_.models = kModels;
    request_.jobs = 2;
    request_.time_limit = 1s;
    hooks_.references_begun = [](std::size_t, std::size_t) {};
    hooks_.references_ended = [this](const ReferencesMade& made) { made_ = made; };
    hooks_.begun = [](const std::string&) {};
    hooks_.ended = [this](const CaseReport& report) { ended_.insert(report.case_id); };
    hooks_.note = [](const std::string& text) { ADD_FAILURE() << text; };
    hooks_.judge = [this](const Evidence& evidence) { return verdict_on(evidence); };
  }
  static std::string name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string id(const std::string& features, const std::string& mesh = "dp2") {
    return fmt::format("gpt-tiny.{}.{}.fp64.host-threads", mesh, features);
  }
  /// Conforms when the launch finished and all that a judge wants is there.
  CaseReport verdict_on(const Evidence& evidence) {
    const std::lock_guard lock(mutex_);
    evidence_.push_back(evidence);
    CaseReport report;
    const bool whole =
        evidence.outcome.finished && fs::exists(evidence.candidate / "rank_0001.h5") &&
        fs::exists(evidence.reference / "rank_0000.h5") && fs::exists(evidence.companions);
    report.verdict = whole ? Verdict::conforms : Verdict::diverges;
    return report;
  }
  std::vector<CaseReport> run(const std::vector<std::string>& ids) {
    const CaseSource source{"", kModels, [] { return std::string(); }};
    request_.cases = enumerate({"", {}, ids}, source).cases;
    dir_.emplace(RunDir::create(folder_ / fmt::format("run{}", runs_++)));
    return run_matrix(request_, *dir_, hooks_);
  }

  fs::path folder_;
  RunRequest request_;
  RunHooks hooks_;
  ReferencesMade made_;
  std::set<std::string> ended_;
  std::mutex mutex_;
  std::vector<Evidence> evidence_;
  std::optional<RunDir> dir_;
  int runs_ = 0;
};

TEST_F(RunMatrix, ReportsEveryCaseInTheOrderOfTheRequest) {
  const auto reports = run({id("sgd"), id("plain"), id("mb2"), id("mb4")});

  ASSERT_EQ(reports.size(), 4u);
  EXPECT_EQ(reports[0].case_id, id("sgd"));
  EXPECT_EQ(reports[3].case_id, id("mb4"));
  for (const CaseReport& report : reports) {
    EXPECT_EQ(report.verdict, Verdict::conforms) << report.case_id;
    EXPECT_EQ(report.seconds, 0.25);
    EXPECT_EQ(report.replay, "meshparity replay " + report.case_id);
  }
  EXPECT_EQ(ended_.size(), 4u);
}

TEST_F(RunMatrix, MakesEachReferenceOnceAndFindsItAgain) {
  run({id("sgd"), id("plain"), id("mb2")});
  EXPECT_EQ(made_.needed, 2u);
  EXPECT_EQ(made_.made, 2u);

  run({id("mb4"), id("sgd")});
  EXPECT_EQ(made_.needed, 2u);
  EXPECT_EQ(made_.made, 0u);
}

TEST_F(RunMatrix, DeletesTheDumpsOfConformingCasesOnly) {
  request_.keep = Keep::failed;

  run({id("plain"), id("seed13")});

  EXPECT_FALSE(fs::exists(dir_->dump(id("plain"))));
  EXPECT_TRUE(fs::exists(dir_->dump(id("seed13"))));
}

TEST_F(RunMatrix, KeepsAllDumpsOrNone) {
  request_.keep = Keep::all;
  run({id("plain")});
  EXPECT_TRUE(fs::exists(dir_->dump(id("plain")) / "rank_0000.h5"));

  request_.keep = Keep::none;
  run({id("seed13")});
  EXPECT_FALSE(fs::exists(dir_->dump(id("seed13"))));
}

TEST_F(RunMatrix, TellsTheJudgeHowTheLaunchEndedAndWhichCoordinateItNames) {
  run({id("seed12", "tp2")});

  ASSERT_EQ(evidence_.size(), 1u);
  EXPECT_FALSE(evidence_[0].outcome.finished);
  EXPECT_EQ(evidence_[0].outcome.rank, 1);
  EXPECT_EQ(evidence_[0].outcome.coordinate, "tp1");
  EXPECT_EQ(evidence_[0].model.heads, 24);
}

TEST_F(RunMatrix, GivesTheJudgeTheReferenceRebasedOnTheCase) {
  request_.keep = Keep::all;

  run({id("plain")});

  ASSERT_EQ(evidence_.size(), 1u);
  EXPECT_TRUE(fs::exists(evidence_[0].rebased));
  EXPECT_TRUE(fs::exists(dir_->rebased(id("plain")) / "state.h5"));
}

TEST_F(RunMatrix, TellsTheJudgeWhyTheReferenceCouldNotBeRebased) {
  run({id("seed21")});

  ASSERT_EQ(evidence_.size(), 1u);
  EXPECT_TRUE(evidence_[0].rebased.empty());
  EXPECT_THAT(evidence_[0].not_rebased, HasSubstr("the state could not be read"));
  EXPECT_EQ(evidence_[0].not_rebased_gravity, Verdict::inconclusive);
}

TEST_F(RunMatrix, DoesNotRebaseOnACaseThatDied) {
  run({id("seed11")});

  ASSERT_EQ(evidence_.size(), 1u);
  EXPECT_TRUE(evidence_[0].rebased.empty());
  EXPECT_FALSE(fs::exists(dir_->rebased(id("seed11"))));
}

TEST_F(RunMatrix, DeletesTheRebasedReferenceWithTheDump) {
  run({id("plain")});

  EXPECT_FALSE(fs::exists(dir_->rebased(id("plain"))));
}

TEST_F(RunMatrix, IsInconclusiveWithoutAReference) {
  const auto reports = run({id("seed20"), id("plain")});

  EXPECT_EQ(reports[0].verdict, Verdict::inconclusive);
  EXPECT_THAT(reports[0].checks.at(0).findings.at(0).text, HasSubstr("the reference gave up"));
  EXPECT_EQ(reports[1].verdict, Verdict::conforms);
}

TEST_F(RunMatrix, IsInconclusiveWhenTheJudgeThrows) {
  hooks_.judge = [](const Evidence&) -> CaseReport { throw Error("the dump is unreadable"); };

  const auto reports = run({id("plain")});

  EXPECT_EQ(reports[0].verdict, Verdict::inconclusive);
  EXPECT_THAT(reports[0].checks.at(0).findings.at(0).text, HasSubstr("the dump is unreadable"));
}

TEST_F(RunMatrix, KeepsReferencesOfLevelAllWithTheRun) {
  request_.level = Level::all;

  run({id("plain")});

  EXPECT_TRUE(evidence_.at(0).reference.string().starts_with(dir_->root().string()));
  EXPECT_EQ(evidence_.at(0).level, Level::all);
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(RunMatrix, WhatDoesNotConformRunsAgainAloneAtLevelAll) {
  request_.second_runs = true;

  const auto reports = run({id("plain"), id("seed22"), id("seed13")});

  EXPECT_TRUE(reports[0].checks.empty());
  ASSERT_EQ(reports[1].checks.size(), 1u);
  EXPECT_EQ(reports[1].checks[0].verdict, Verdict::diverges);
  EXPECT_EQ(reports[1].checks[0].findings.at(0).text,
            "not repeatable: the first run died: rank 1 gave up; run again alone it ended");
  EXPECT_EQ(reports[1].checks[0].findings.at(0).coordinate, "dp1");
  ASSERT_EQ(reports[2].checks.size(), 1u);
  EXPECT_EQ(reports[2].checks[0].verdict, Verdict::conforms);
  EXPECT_EQ(ended_.size(), 3u);
  EXPECT_FALSE(fs::exists(dir_->again(id("plain"))));
  EXPECT_TRUE(fs::exists(dir_->again(id("seed22")) / "rank_0001.h5"));
}

TEST_F(RunMatrix, OnceMeansOnce) {
  const auto reports = run({id("seed22")});

  EXPECT_EQ(reports[0].verdict, Verdict::diverges);
  EXPECT_TRUE(reports[0].checks.empty());
  EXPECT_FALSE(fs::exists(dir_->again(id("seed22"))));
}

TEST_F(RunMatrix, WithFailFastNothingIsStartedAfterACaseThatDiverges) {
  request_.fail_fast = true;
  request_.jobs = 1;
  // What follows stands for two seconds each: it cannot end before the first is judged.
  const auto reports = run({id("seed13"), id("seed17"), id("seed17", "tp2"), id("plain")});

  EXPECT_EQ(reports[0].verdict, Verdict::diverges);
  for (std::size_t i = 1; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].not_run, "an earlier case diverged (--fail-fast)") << i;
    EXPECT_EQ(reports[i].case_id, request_.cases[i].id);
  }
  EXPECT_EQ(ended_.size(), 4u);
}

TEST_F(RunMatrix, WithFailFastARunInWhichNothingDivergesIsWhole) {
  request_.fail_fast = true;

  for (const CaseReport& report : run({id("plain"), id("mb2"), id("sgd")})) {
    EXPECT_EQ(report.verdict, Verdict::conforms) << report.case_id;
  }
}

TEST_F(RunMatrix, ThrowsWhatAHookThrew) {
  hooks_.ended = [](const CaseReport&) { throw Error("the disk is full"); };

  EXPECT_THROW(run({id("plain")}), Error);
}

}  // namespace
}  // namespace meshparity
