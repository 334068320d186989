// The mode "rebase" where a step reads older weights: llama-micro in two stages, embedding and
// block before final norm and head. A weight that is moved by hand after step 0 shows in the steps
// that read it, and nowhere else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kFirst = "layer0.norm1.weight";
constexpr const char* kLast = "final_norm.weight";

std::string stream_id(const std::string& features) {
  return "llama-micro.pp2." + features + ".fp64.host-threads";
}

/// Steps whose loss another value of `record` after step 0 changes.
std::set<int> steps_that_read(const RebaseCase& made, const std::string& record) {
  const auto moved = made.altered("moved-" + record, [&](const Piece& piece, Values& values) {
    values[0] += is(piece, 0, Phase::param, record) ? 1e-2 : 0;
    return true;
  });
  const DumpReader rebased(made.rebase(record, moved));
  const DumpReader clean(made.clean());
  std::set<int> steps;
  for (const Piece& piece : rebased.pieces()) {
    if (piece.phase == Phase::loss && piece.record == "loss" &&
        rebased.read(piece) != record_of(clean, piece.step, Phase::loss, "loss").value()) {
      steps.insert(piece.step);
    }
  }
  return steps;
}

TEST(RebaseStream, ItsOwnStatesGiveItsOwnStepsBack) {
  for (const char* features :
       {"pipedream-mb4-clip_off-steps1", "pipedream_vsync-mb4-clip_off-steps1",
        "pipedream_2bw-mb2-clip_off"}) {
    const RebaseCase made(stream_id(features));
    const auto rebased_file = made.rebase("own", made.clean());
    const DumpReader rebased(rebased_file);
    const DumpReader clean(made.clean());

    std::set<int> steps;
    for (const Piece& piece : rebased.pieces()) {
      steps.insert(piece.step);
      EXPECT_EQ(rebased.read(piece),
                record_of(clean, piece.step, piece.phase, piece.record).value())
          << features << piece.path;
    }
    EXPECT_EQ(steps.size(), std::string(features).ends_with("steps1") ? 3u : 2u) << features;
    EXPECT_THAT(broken(rebased_file, made.clean()), IsEmpty()) << features;
  }
}

// The first stage is an update behind, the last never.
TEST(RebaseStream, EachStageReadsItsOwnVersion) {
  const RebaseCase made(stream_id("pipedream-mb4-clip_off-steps1"));

  EXPECT_THAT(steps_that_read(made, kFirst), ElementsAre(2));
  EXPECT_THAT(steps_that_read(made, kLast), ElementsAre(1));
}

TEST(RebaseStream, AllStagesReadTheSameVersionOfAVerticalSync) {
  const RebaseCase made(stream_id("pipedream_vsync-mb4-clip_off-steps1"));

  EXPECT_THAT(steps_that_read(made, kFirst), ElementsAre(2));
  EXPECT_THAT(steps_that_read(made, kLast), ElementsAre(2));
}

TEST(RebaseStream, ABatchReadsTheWeightsOfTheOneBeforeTheLast) {
  const RebaseCase made(stream_id("pipedream_2bw-mb2-clip_off"));

  EXPECT_THAT(steps_that_read(made, kFirst), ElementsAre(2));
  EXPECT_THAT(steps_that_read(made, kLast), ElementsAre(2));
}

// Whatever version a gradient is of, it updates the newest weights.
TEST(RebaseStream, AnUpdateBeginsWithTheNewestWeights) {
  const RebaseCase made(stream_id("pipedream-mb4-clip_off-steps1"));
  const auto moved = made.altered("moved", [](const Piece& piece, Values& values) {
    values[0] += is(piece, 0, Phase::param, kFirst) ? 1e-2 : 0;
    return true;
  });

  EXPECT_THAT(broken(made.rebase("moved", moved), moved),
              ElementsAre(std::string("update ") + kFirst + " step 0",
                          std::string("update ") + kFirst + " step 1"));
}

// Step 3 of the first stage reads what was there after step 1.
TEST(RebaseStream, AVersionThatIsNotWholeStartsNoStepThatReadsIt) {
  const RebaseCase made(stream_id("pipedream-mb4-clip_off-steps1"));
  const auto holed = made.altered(
      "holed", [](const Piece& piece, Values&) { return !is(piece, 1, Phase::param, kFirst); });
  const DumpReader rebased(made.rebase("holed", holed));

  std::set<int> steps;
  for (const Piece& piece : rebased.pieces()) {
    steps.insert(piece.step);
  }
  EXPECT_THAT(steps, ElementsAre(1));
}

}  // namespace
}  // namespace meshparity::reference
