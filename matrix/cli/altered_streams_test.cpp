// Real programs end to end, asynchronous pipelines in two stages: every step is judged from the
// weights that its stages read, and a dump whose weights or versions are others is found where they
// are read.
#include <gmock/gmock.h>

#include "matrix/cli/clean_run.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirst = "layer0.norm1.weight";  // of stage 0
constexpr const char* kLast = "final_norm.weight";     // of stage 1

/// With full masks: a micro-batch is one sample, and that of one token has gradients that are zero.
std::string stream_id(const std::string& features) {
  return "llama-micro.pp2." + features + ".fp64.host-threads";
}

/// The dump says that the weight moved in step 0.
Ran compare_moved(const CleanRun& run, const std::string& record) {
  return run.compare_altered("moved-" + record, [&](const Piece& piece, Values& values) {
    values[0] += is(piece, 0, Phase::param, record) ? 1e-3 : 0;
  });
}

void expect_read_in(const Ran& ran, const std::string& record, int step, int not_in) {
  EXPECT_EQ(ran.exit, 1) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(fmt::format("forward {} step {}", record, step)),
                             Not(HasSubstr(fmt::format("forward {} step {}", record, not_in)))));
}

TEST(AlteredStreams, EveryStepOfACleanOneIsJudgedByNoiseAndByLaw) {
  for (const auto& [features, last] : {std::pair("pipedream-mb4-clip_off-maskfull-steps2", 7),
                                       std::pair("pipedream_vsync-mb4-clip_off-maskfull-steps1", 3),
                                       std::pair("pipedream_2bw-mb2-clip_off-maskfull", 2)}) {
    const CleanRun run(stream_id(features));
    auto steps = run.judged_steps();
    std::set<int> all;
    for (int step = 0; step <= last; ++step) {
      all.insert(step);
    }
    for (const char* kind : {"forward", "loss", "backward", "grad", "scalar", "law loss",
                             "law moment1", "law moment2", "law param"}) {
      EXPECT_EQ(steps[kind], all) << features << " " << kind;
    }
    EXPECT_EQ(run.compare(run.dump()).exit, 0) << features;
  }
}

// The first stage is one update behind, the last never is.
TEST(AlteredStreams, AStaleWeightIsFoundWhereItsStageReadsIt) {
  const CleanRun run(stream_id("pipedream-mb4-clip_off-maskfull-steps1"));

  expect_read_in(compare_moved(run, kFirst), "layer0.attn.context", 2, 1);
  expect_read_in(compare_moved(run, kLast), "logits", 1, 2);
}

TEST(AlteredStreams, WithVerticalSyncBothStagesReadItAStepLater) {
  const CleanRun run(stream_id("pipedream_vsync-mb4-clip_off-maskfull-steps1"));

  expect_read_in(compare_moved(run, kFirst), "layer0.attn.context", 2, 1);
  expect_read_in(compare_moved(run, kLast), "logits", 2, 1);
}

TEST(AlteredStreams, OfTwoBufferedWeightsABatchReadsTheOlder) {
  const CleanRun run(stream_id("pipedream_2bw-mb2-clip_off-maskfull"));

  expect_read_in(compare_moved(run, kFirst), "layer0.attn.context", 2, 1);
  expect_read_in(compare_moved(run, kLast), "logits", 2, 1);
}

// The dump's numbers are right, but a stage says that it used other weights.
TEST(AlteredStreams, AnotherVersionIsFoundExactly) {
  const CleanRun run(stream_id("pipedream-mb4-clip_off-maskfull-steps1"));

  const Ran ran = run.compare_altered("version", [](const Piece& piece, Values& values) {
    const bool of_last = piece.shared_over == "dp,tp" && values[0] == 3;
    values[0] -= is(piece, 3, Phase::exact, "version") && of_last ? 1 : 0;
  });

  EXPECT_EQ(ran.exit, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("exact version step 3"));
}

}  // namespace
}  // namespace meshparity
