// gpt-micro by hand: L = 1, h = 8, f = 12, 4 heads of 2, vocabulary 13 padded to 16, S = 5,
// batch 4.
#include "matrix/expect/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace meshparity::expect {
namespace {

RankMemory memory(const std::string& rest, int rank = 0, const char* name = "gpt-micro") {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
  const CaseSpec spec = parse_case(std::string(name) + "." + rest + ".host-threads");
  return memory_of({spec, model}, rank);
}

/// Of one number a token of 20, width numbers a token: bytes of float64 and of int32.
constexpr std::int64_t doubles(std::int64_t width) {
  return 20 * width * 8;
}
constexpr std::int64_t words(std::int64_t width) {
  return 20 * width * 4;
}

// Embedding 16 x 8, positions 5 x 8, three norms of 16, q k v out 72 each, up 108, down 104: 716;
// the tied head is a second gradient of 128.
TEST(ExpectedMemory, OfOneRankIsEveryParameterItsGradientAndTwoMoments) {
  const RankMemory whole = memory("single.plain.fp64");

  EXPECT_EQ(whole.of("parameter"), 716 * 8);
  EXPECT_EQ(whole.of("gradient"), 844 * 8);
  EXPECT_EQ(whole.of("optimizer"), 2 * 716 * 8);
  EXPECT_EQ(memory("single.momentum.fp64").of("optimizer"), 716 * 8);
  EXPECT_EQ(memory("single.sgd.fp64").of("optimizer"), 0);
  EXPECT_EQ(memory("single.plain.fp32").of("gradient"), 844 * 4);
}

// Kept for inputs: embedding 8; norms 3 x 2; q k v 24, probs 4 x 5, residual and out 16, up 12;
// loss
// 5. In 4 bytes: dropout 8 + 20 + 16. Kept for weights: three norms of 8, context 8, act 12, logits
// 16.
TEST(ExpectedMemory, ListsWhatAForwardPassLeavesForItsBackwardPass) {
  const RankMemory whole = memory("single.plain.fp64");

  EXPECT_EQ(whole.of("activation_B"), doubles(8 + 6 + 24 + 20 + 16 + 12 + 5) + words(44));
  EXPECT_EQ(whole.of("activation_W"), doubles(3 * 8 + 8 + 12 + 16));
  EXPECT_EQ(memory("single.drop0.fp64").of("activation_B"), whole.of("activation_B") - words(44));
  EXPECT_EQ(whole.total(),
            (716 + 844 + 1432) * 8 + whole.of("activation_B") + whole.of("activation_W"));
}

// Two ranks: embedding 64, positions 40, norms 48, q k v 36, out 32 + 8, up 54, down 48 + 8: 410;
// half of the wide tensors.
TEST(ExpectedMemory, IsCutOverTensorRanksExceptNormsPositionsAndRowBiases) {
  const RankMemory half = memory("tp2.plain.fp64", 1);

  EXPECT_EQ(half.of("parameter"), 410 * 8);
  EXPECT_EQ(half.of("gradient"), 474 * 8);
  EXPECT_EQ(half.of("activation_B"), doubles(8 + 6 + 12 + 10 + 16 + 6 + 5) + words(8 + 10 + 16));
  EXPECT_EQ(half.of("activation_W"), doubles(3 * 8 + 4 + 6 + 8));
}

// With sequence parallelism 10 of 20 rows of the stream; of 5 rows in micro-batches of one sample
// the first rank keeps 3.
TEST(ExpectedMemory, OfTheStreamIsTheRanksOwnRowsWithSequenceParallelism) {
  const std::int64_t whole = memory("tp2.plain.fp64").of("activation_W");
  const std::int64_t of_rows = memory("tp2.sp.fp64").of("activation_W");
  const std::int64_t first = memory("tp2.sp-mb4.fp64", 0).of("activation_W");
  const std::int64_t second = memory("tp2.sp-mb4.fp64", 1).of("activation_W");

  EXPECT_EQ(whole - of_rows, doubles(3 * 8) / 2);
  EXPECT_EQ(first, (3 * 3 * 8 + 5 * (4 + 6 + 8)) * 8);
  EXPECT_EQ(second, (2 * 3 * 8 + 5 * (4 + 6 + 8)) * 8);
}

// Replicas and micro-batches divide the samples and nothing else.
TEST(ExpectedMemory, OfActivationsIsThatOfOneMicroBatch) {
  const RankMemory one = memory("single.plain.fp64");
  const RankMemory quarter = memory("dp2.mb2.fp64", 1);

  EXPECT_EQ(quarter.of("activation_B"), one.of("activation_B") / 4);
  EXPECT_EQ(quarter.of("activation_W"), one.of("activation_W") / 4);
  EXPECT_EQ(quarter.of("optimizer"), one.of("optimizer"));
}

TEST(ExpectedMemory, NamesEachSavedTensor) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "llama-tiny");
  const CaseSpec spec = parse_case("llama-tiny.tp2.plain.fp32.host-threads");
  const std::vector<SavedTensor> saved = saved_tensors({spec, model}, 0);

  const auto probs = std::find_if(saved.begin(), saved.end(), [](const SavedTensor& each) {
    return each.name == "attn.probs";
  });
  ASSERT_NE(probs, saved.end());
  EXPECT_EQ(probs->bytes(), std::int64_t{48} * (model.heads / 2) * model.sequence * model.sequence *
                                model.layers * 4);
}

}  // namespace
}  // namespace meshparity::expect
