// The mode "rebase": clean, a dump gives its own steps back; another state gives other steps.
#include "reference/rebase.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Rebase, ItsOwnStatesGiveItsOwnStepsBack) {
  const RebaseCase made(id_of("plain"));
  const DumpReader rebased(made.rebase("own", made.clean()));
  const DumpReader clean(made.clean());

  std::set<int> steps;
  for (const Piece& piece : rebased.pieces()) {
    steps.insert(piece.step);
    EXPECT_EQ(rebased.read(piece), record_of(clean, piece.step, piece.phase, piece.record).value())
        << piece.path;
  }
  EXPECT_THAT(steps, ElementsAre(1, 2));
  EXPECT_EQ(rebased.records().size(), rebased.pieces().size());
  EXPECT_EQ(rebased.header().case_id, id_of("plain"));
}

TEST(Rebase, SgdRunsFreeAndHasLawsOnly) {
  const RebaseCase made(id_of("momentum"));
  EXPECT_THAT(DumpReader(made.rebase("own", made.clean())).pieces(), IsEmpty());
}

TEST(Rebase, AStepBeginsWithTheStateThatTheCandidateLeft) {
  const RebaseCase made(id_of("plain"));
  const auto moved = made.altered("moved", [](const Piece& piece, Values& values) {
    if (is(piece, 0, Phase::param, "layer0.norm1.weight")) {
      values[0] += 1e-3;
    }
    return true;
  });
  const DumpReader rebased(made.rebase("moved", moved));
  const DumpReader clean(made.clean());

  const auto distance = [&](int step, Phase phase, const std::string& record) {
    const Values a = record_of(rebased, step, phase, record).value();
    const Values b = record_of(clean, step, phase, record).value();
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(a[i] - b[i]));
    }
    return largest;
  };
  EXPECT_EQ(distance(1, Phase::forward, "layer0.in"), 0);
  EXPECT_GT(distance(1, Phase::forward, "layer0.attn.context"), 1e-6);
  EXPECT_EQ(distance(2, Phase::forward, "logits"), 0);  // from the state after step 1, untouched
}

TEST(Rebase, AStateThatIsNotWholeStartsNoStepAndItsLawsSayWhatIsMissing) {
  const RebaseCase made(id_of("plain"));
  const auto holed = made.altered("holed", [](const Piece& piece, Values&) {
    return !is(piece, 0, Phase::moment1, "layer0.norm1.weight");
  });
  const DumpReader rebased(made.rebase("holed", holed));

  std::set<int> steps;
  for (const Piece& piece : rebased.pieces()) {
    steps.insert(piece.step);
  }
  EXPECT_THAT(steps, ElementsAre(2));
  std::set<std::string> undecided;
  for (const LawRow& law : rebased.laws()) {
    if (!law.missing.empty()) {
      undecided.insert(law.law + " " + law.record + " step " + std::to_string(law.step) + ": " +
                       law.missing);
    }
  }
  const std::string missing = ": moment1 layer0.norm1.weight of step 0";
  EXPECT_THAT(undecided, ElementsAre("moment1 layer0.norm1.weight step 1" + missing,
                                     "update layer0.norm1.weight step 0" + missing));
}

TEST(Rebase, EqualStatesAreComputedOnce) {
  const RebaseCase made(id_of("plain"));
  const auto other = made.altered("other", [](const Piece& piece, Values& values) {
    values[0] += is(piece, 1, Phase::moment2, "final_norm.bias") ? 1e-9 : 0;
    return true;
  });
  RebasedSteps known;
  const auto first = made.rebase("first", made.clean(), known);
  EXPECT_EQ(known.computed(), 2);
  const auto second = made.rebase("second", made.clean(), known);
  EXPECT_EQ(known.computed(), 2);
  made.rebase("third", other, known);
  EXPECT_EQ(known.computed(), 3);

  const DumpReader a(first);
  const DumpReader b(second);
  ASSERT_EQ(a.pieces().size(), b.pieces().size());
  for (const Piece& piece : a.pieces()) {
    EXPECT_EQ(a.read(piece), b.read(piece)) << piece.path;
  }
}

TEST(Rebase, WhatDoesNotFitIsForgottenAndComputedAgain) {
  const RebaseCase made(id_of("plain"));
  RebasedSteps known(1);  // a byte: no step stays beside another

  made.rebase("first", made.clean(), known);
  const auto again = made.rebase("second", made.clean(), known);

  EXPECT_EQ(known.computed(), 4);
  EXPECT_THAT(broken(again, made.clean()), IsEmpty());
}

TEST(Rebase, RefusesStatesOfAnotherCaseAndJobsWithoutStates) {
  const RebaseCase made(id_of("plain"));
  const RebaseCase other(id_of("seed2"));

  EXPECT_THAT(message_of<UsageError>([&] { made.rebase("other", other.clean()); }),
              testing::HasSubstr("is of case gpt-micro.single.seed2"));
  EXPECT_THAT(message_of<UsageError>([&] { made.rebase("none", {}); }),
              testing::HasSubstr("names no state"));
}

}  // namespace
}  // namespace meshparity::reference
