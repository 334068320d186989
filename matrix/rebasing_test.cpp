#include "matrix/rebasing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

class RebasingTest : public testing::Test {
 protected:
  LaunchSettings settings(int side_by_side) const {
    return {FAKE_PROGRAM, scratch_ / "launches", side_by_side, {}, {}};
  }
  Job job(const std::string& name, const std::string& features) const {
    Job job;
    job.case_id = "gpt-tiny.dp2." + features + ".fp64.host-threads";
    job.out = scratch_ / name;
    job.models = "models";
    job.state = scratch_ / (name + ".h5");
    std::filesystem::create_directories(job.out);
    return job;
  }
  /// Gives every job of `features` and waits; returns what was said of each.
  std::vector<LaunchOutcome> rebase(const std::vector<std::string>& features, int side_by_side) {
    std::vector<LaunchOutcome> outcomes(features.size());
    std::vector<int> ended(features.size());
    Rebasing rebasing(settings(side_by_side), note_);
    for (std::size_t i = 0; i < features.size(); ++i) {
      rebasing.give({[&, i] { return job(std::to_string(i), features[i]); },
                     [&, i](const LaunchOutcome& outcome) {
                       outcomes[i] = outcome;
                       ++ended[i];
                     }});
    }
    rebasing.finish();
    EXPECT_THAT(ended, testing::Each(1));
    return outcomes;
  }

  ScratchFolder scratch_;
  std::function<void(const std::string&)> note_ = [](const std::string& text) {
    ADD_FAILURE() << text;
  };
};

TEST_F(RebasingTest, RestartsTheReferenceForEachCandidate) {
  const auto outcomes = rebase({"plain", "mb2", "mb4", "plain"}, 2);

  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_TRUE(outcomes[i].finished) << outcomes[i].what;
    EXPECT_TRUE(std::filesystem::exists(scratch_ / std::to_string(i) / "rank_0000.h5"));
  }
}

TEST_F(RebasingTest, OneLaunchServesManyJobs) {
  rebase(std::vector<std::string>(12, "plain"), 1);

  std::ptrdiff_t launches = 0;
  for (const auto& part : std::filesystem::directory_iterator(scratch_ / "launches")) {
    launches += part.is_directory() ? 1 : 0;
  }
  EXPECT_LE(launches, 4);  // the first ones may start before all are given
}

TEST_F(RebasingTest, AFailureIsToldOfItsJobAlone) {
  const auto outcomes = rebase({"plain", "seed21", "plain"}, 1);

  EXPECT_TRUE(outcomes[0].finished);
  EXPECT_FALSE(outcomes[1].finished);
  EXPECT_EQ(outcomes[1].what, "the state could not be read");
  EXPECT_TRUE(outcomes[2].finished);
}

TEST_F(RebasingTest, WhatCannotBePreparedIsToldAndTheRestGoesOn) {
  LaunchOutcome bad;
  LaunchOutcome good;
  Rebasing rebasing(settings(1), note_);
  rebasing.give({[]() -> Job { throw Error("the disk is full"); },
                 [&](const LaunchOutcome& outcome) { bad = outcome; }});
  rebasing.give({[&] { return job("good", "plain"); },
                 [&](const LaunchOutcome& outcome) { good = outcome; }});
  rebasing.finish();

  EXPECT_FALSE(bad.finished);
  EXPECT_EQ(bad.what, "the disk is full");
  EXPECT_TRUE(good.finished) << good.what;
}

TEST_F(RebasingTest, AProgramThatIsNotThereIsToldOfEachJob) {
  LaunchSettings absent = settings(1);
  absent.program = scratch_ / "absent";
  LaunchOutcome outcome;
  Rebasing rebasing(absent, note_);
  rebasing.give(
      {[&] { return job("any", "plain"); }, [&](const LaunchOutcome& ended) { outcome = ended; }});
  rebasing.finish();

  EXPECT_FALSE(outcome.finished);
  EXPECT_THAT(outcome.what, HasSubstr("absent"));
}

TEST_F(RebasingTest, ThrowsWhatEndedThrew) {
  Rebasing rebasing(settings(1), note_);
  rebasing.give({[&] { return job("any", "plain"); },
                 [](const LaunchOutcome&) { throw Error("no room for the report"); }});

  EXPECT_EQ(message_of<Error>([&] { rebasing.finish(); }), "no room for the report");
}

TEST_F(RebasingTest, FinishesWhatWasGivenWhenItGoes) {
  int ended = 0;
  {
    Rebasing rebasing(settings(1), note_);
    for (int i = 0; i < 3; ++i) {
      rebasing.give({[&, i] { return job(std::to_string(i), "plain"); },
                     [&](const LaunchOutcome&) { ++ended; }});
    }
  }
  EXPECT_EQ(ended, 3);
}

}  // namespace
}  // namespace meshparity
