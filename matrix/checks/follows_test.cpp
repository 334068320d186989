#include "matrix/checks/follows.hpp"

#include <gtest/gtest.h>

#include "matrix/made_rebased.hpp"

namespace meshparity {
namespace {

constexpr const char* kSingle = "gpt-tiny.single.sgd-steps1.fp64.host-threads";

Placement all_of(std::vector<std::int64_t> shape) {
  return whole(shape);
}

TEST(Follows, WhatLiesBehindTheFirstCauseIsMarked) {
  MadeCase made(kSingle);
  for (const char* name : {"first", "second"}) {
    made.add(name, {1}, {1});
    made.give(0, name, all_of({1})).values = {{2}};
  }
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(cause_of(report).record, "first");
  EXPECT_EQ(cause_of(report).follows_from, "");
  EXPECT_EQ(result_of(report, "forward").findings[1].follows_from, "forward forward first step 0");
  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "forward forward first step 0");
}

// A step that began with the candidate's own state owes nothing to the step before; a law owes
// nothing to the gradient that it took.
TEST(Follows, RebasedStepsAndLawsStandForThemselves) {
  MadeCase made("gpt-tiny.single.steps2.fp64.host-threads");
  const auto add = [&](const char* name, Phase phase, int step) {
    MadeRecord& record = made.add(name, {1}, {1});
    record.spec.phase = phase;
    record.step = step;
    MadePiece& piece = made.give(0, name, all_of({1}));
    piece.step = step;
    piece.values = {{2}};
  };
  add("g", Phase::grad, 0);
  add("w", Phase::param, 0);
  add("early", Phase::forward, 1);
  add("late", Phase::forward, 1);
  Evidence evidence = made.write();
  evidence.rebased = MadeRebased(made)
                         .law(0, Phase::param, "w", {{1}, {0}})
                         .record(1, Phase::forward, "early", {1})
                         .record(1, Phase::forward, "late", {1})
                         .finish();

  const CaseReport report = judge(evidence);

  EXPECT_EQ(cause_of(report).record, "g");
  EXPECT_EQ(result_of(report, "step").findings.at(0).follows_from, "");
  EXPECT_EQ(result_of(report, "forward").findings.at(0).follows_from, "");
  EXPECT_EQ(result_of(report, "forward").findings.at(1).follows_from,
            "forward forward early step 1");
}

TEST(Follows, CopiesThatDifferExplainLaterRebasedSteps) {
  MadeCase made("gpt-tiny.tp2.steps2.fp64.host-threads");
  for (const int step : {0, 1}) {
    MadeRecord& record = made.add(step == 0 ? "w" : "x", {1}, {1});
    record.spec.phase = step == 0 ? Phase::param : Phase::forward;
    record.step = step;
    for (const int rank : {0, 1}) {
      MadePiece& piece = made.give(rank, record.spec.name, all_of({1}), "tp");
      piece.step = step;
      piece.values = {{step == 0 ? 1.0 + rank : 2.0}};
    }
  }
  Evidence evidence = made.write();
  evidence.rebased = MadeRebased(made)
                         .law(0, Phase::param, "w", {{1}, {0}})
                         .record(1, Phase::forward, "x", {1})
                         .finish();

  const CaseReport report = judge(evidence);

  EXPECT_EQ(cause_of(report).check, "replicas");
  EXPECT_EQ(result_of(report, "forward").findings.at(0).follows_from, "replicas param w step 0");
}

TEST(Follows, GradientsDoNotFollowFromOtherGradients) {
  MadeCase made(kSingle);
  for (const char* name : {"wa", "wb"}) {
    made.add(name, {1}, {1}).spec.phase = Phase::grad;
    made.give(0, name, all_of({1})).values = {{2}};
  }

  const CaseReport report = made.judge();

  EXPECT_EQ(result_of(report, "grad").findings[1].follows_from, "");
}

}  // namespace
}  // namespace meshparity
