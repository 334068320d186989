// Bytes of stages, shards and recomputation by hand; gpt-micro as in memory_test.cpp. Stage 0 has
// the embedding and the block, stage 1 the head; a micro-batch of mb2 has 10 rows.
#include <gtest/gtest.h>

#include "matrix/expect/memory.hpp"

namespace meshparity::expect {
namespace {

RankMemory memory(const std::string& rest, int rank) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro." + rest + ".fp64.host-threads");
  return memory_of({spec, model}, rank);
}

/// Of one number for each of 10 rows.
constexpr std::int64_t doubles(std::int64_t width) {
  return 10 * width * 8;
}
constexpr std::int64_t words(std::int64_t width) {
  return 10 * width * 4;
}

// Kept for inputs by embedding and block: 8; two norms 4; q k v 24, probs 20, residual and out 16,
// up 12; words 8 + 20 + 16. For weights: two norms 16, context 8, act 12.
constexpr std::int64_t kFirstB = doubles(8 + 4 + 24 + 20 + 16 + 12) + words(44);
constexpr std::int64_t kFirstW = doubles(16 + 8 + 12);
// By the head: what it received 8, norm 2, loss 5; norm 8, logits 16.
constexpr std::int64_t kLastB = doubles(8 + 2 + 5);
constexpr std::int64_t kLastW = doubles(8 + 16);

TEST(PipelineMemory, HoldsAsManyMicroBatchesAsTheScheduleHasInFlight) {
  EXPECT_EQ(memory("pp2.gpipe-mb2-split2_1", 0).of("activation_B"), 2 * kFirstB);
  EXPECT_EQ(memory("pp2.gpipe-mb2-split2_1", 1).of("activation_B"), 2 * kLastB);
  EXPECT_EQ(memory("pp2.1f1b-mb2-split2_1", 0).of("activation_W"), 2 * kFirstW);
  EXPECT_EQ(memory("pp2.1f1b-mb2-split2_1", 1).of("activation_B"), kLastB);
  EXPECT_EQ(memory("pp2.naive-mb2-split2_1", 0).of("activation_B"), kFirstB);
}

// zbh1 on the last of two stages: F0 B0 F1 B1 W0 W1. Gradients of the head are its logits.
TEST(PipelineMemory, KeepsWhatWeightGradientsNeedUntilW) {
  const RankMemory last = memory("pp2.zbh1-mb2-split2_1", 1);

  EXPECT_EQ(last.of("activation_B"), kLastB);
  EXPECT_EQ(last.of("activation_W"), 2 * kLastW);
}

// zbh1 on the first stage: F0 F1 B0 W0 B1 W1. Gradients of q k v 24, of attn.out and mlp.down 8
// each, of up 12, from B to W, while the inputs of both micro-batches are there.
TEST(PipelineMemory, KeepsOutputGradientsFromBToW) {
  EXPECT_EQ(memory("pp2.zbh1-mb2-split2_1", 0).of("activation_W"),
            2 * kFirstW + doubles(24 + 16 + 12));
}

TEST(PipelineMemory, HoldsParametersOfItsStage) {
  const RankMemory first = memory("pp2.gpipe-mb2-split2_1", 0);
  const RankMemory last = memory("pp2.gpipe-mb2-split2_1", 1);

  EXPECT_EQ(first.of("parameter"), (128 + 40 + 532) * 8);
  EXPECT_EQ(last.of("parameter"), (16 + 128) * 8);  // a copy of the tied weight
  EXPECT_EQ(last.of("optimizer"), 2 * (16 + 128) * 8);
}

// Full: the embedding is the block's input, the block's output the norm's. Two norms, context and
// act are not kept for weights.
TEST(RecomputeMemory, KeepsInputsOfBlocksAlone) {
  const RankMemory full = memory("single.mb2-rc_full", 0);

  EXPECT_EQ(full.of("activation_B"), doubles(8 + 8 + 2 + 5) + words(8));
  EXPECT_EQ(full.of("activation_W"), kLastW);
  EXPECT_EQ(memory("pp2.gpipe-mb2-rc_full-split2_1", 0).of("activation_B"),
            2 * (doubles(8) + words(8)));
}

TEST(RecomputeMemory, OfTheSelectiveKindLeavesOutProbabilitiesAndTheirWords) {
  EXPECT_EQ(memory("single.mb2-rc_selective", 0).of("activation_B"),
            memory("single.mb2", 0).of("activation_B") - doubles(20) - words(20));
}

// Made again in B, the inputs of the block's linears stay until W like the gradients.
TEST(RecomputeMemory, KeepsWhatItMadeAgainUntilW) {
  EXPECT_EQ(memory("pp2.zbh1-mb2-rc_full-split2_1", 0).of("activation_W"),
            kFirstW + doubles(24 + 16 + 12));
}

// Buckets of 128, 588 and 128 (shards_test.cpp) on three replicas: 129, 588 and 129 in memory. The
// head's values are the embedding's; padding has no moments.
TEST(ZeroMemory, ShardsTheOptimizerThenGradientsThenParameters) {
  const RankMemory one = memory("dp3.zero1", 2);
  const RankMemory two = memory("dp3.zero2", 2);

  EXPECT_EQ(one.of("parameter"), (129 + 588) * 8);
  EXPECT_EQ(one.of("gradient"), (129 + 588 + 129) * 8);
  EXPECT_EQ(one.of("optimizer"), 2 * (42 + 196) * 8);
  EXPECT_EQ(memory("dp3.zero1", 0).of("optimizer"), 2 * (43 + 196) * 8);
  EXPECT_EQ(two.of("gradient"), (43 + 196 + 43) * 8);
  EXPECT_EQ(two.of("parameter"), (129 + 588) * 8);
}

// Pieces: 128, 40, 532, 16, 128; a third of each: 43, 14, 178, 6.
TEST(ZeroMemory, OfStage3HoldsAShareOfEachPiece) {
  EXPECT_EQ(memory("dp3.zero3", 0).of("parameter"), (43 + 14 + 178 + 6) * 8);
}

TEST(MasterMemory, IsAThirdNumberOfEightBytesBesideFloats) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const CaseSpec spec = parse_case("gpt-micro.single.master64.fp32.host-threads");
  const RankMemory memory = memory_of({spec, model}, 0);

  EXPECT_EQ(memory.of("parameter"), 716 * 4);
  EXPECT_EQ(memory.of("optimizer"), 716 * 3 * 8);
}

}  // namespace
}  // namespace meshparity::expect
