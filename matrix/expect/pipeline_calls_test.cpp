// Calls of pipelines, ZeRO and recomputation, written out by hand for the model of calls_test.cpp:
// one layer, hidden 8, ffn 12, 4 heads of 2, vocabulary 13 padded to 16, 4 samples of 5 tokens,
// tied.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/expect/calls.hpp"

namespace meshparity::expect {
namespace {

using Texts = std::vector<std::string>;

std::vector<CollectiveRow> rows(const std::string& rest, int rank,
                                const std::string& name = "gpt-micro") {
  const CaseSpec spec = parse_case(name + "." + rest + ".fp64.host-threads");
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, name);
  return calls_of({spec, model}, Level::standard, rank);
}

/// "kind site count mb".
Texts texts(const std::vector<CollectiveRow>& all) {
  Texts lines;
  for (const CollectiveRow& row : all) {
    lines.push_back(fmt::format("{} {} {} {}", row.kind, row.site, row.count, row.mb));
  }
  return lines;
}

// Stage 0 embedding and block, stage 1 the head. A micro-batch has 10 rows of 8 numbers.
TEST(PipelineCalls, SendWhatTheOtherStageNeedsWhenItIsMade) {
  const Texts first = texts(rows("pp2.gpipe-mb2-split2_1-steps1", 0));
  const Texts last = texts(rows("pp2.gpipe-mb2-split2_1-steps1", 1));

  EXPECT_EQ(first, (Texts{"send pp.activation/forward 80 0", "send pp.activation/forward 80 1",
                          "receive pp.gradient/backward 80 0", "receive pp.gradient/backward 80 1",
                          "all_reduce tokens/scalar 72 0", "all_reduce grad.tied/grad 128 0",
                          "all_reduce norm/scalar 71 0"}));
  EXPECT_EQ(last, (Texts{"receive pp.activation/forward 80 0", "receive pp.activation/forward 80 1",
                         "send pp.gradient/backward 80 0", "send pp.gradient/backward 80 1",
                         "all_reduce tokens/scalar 72 0", "all_reduce grad.tied/grad 128 0",
                         "all_reduce norm/scalar 71 0"}));
  const auto both = rows("dp2-pp2.gpipe-mb2-split2_1-steps1", 1);
  const auto tied = std::find_if(both.begin(), both.end(),
                                 [](const auto& row) { return row.site == "grad.tied/grad"; });
  ASSERT_NE(tied, both.end());
  EXPECT_EQ(tied->axis, "pp");
  EXPECT_EQ(tied->group, "1 3");  // dp is the faster axis
}

// Two stages of one rank each would hold both ends: zbv's last chunk lies beside its first.
TEST(PipelineCalls, SumNothingTiedWhereOneStageHoldsBothEnds) {
  for (const CollectiveRow& row : rows("pp2.zbv-mb4-steps1", 0, "mixed-micro")) {
    EXPECT_NE(row.site, "grad.tied/grad");
  }
}

// With sp two tensor ranks have 3 and 2 of 5 rows.
TEST(PipelineCalls, MoveTheRanksOwnRowsWithSequenceParallelism) {
  const auto of_rank = [](int rank) {
    return rows("tp2-pp2.sp-1f1b-mb4-split2_1-steps1", rank)[5];
  };

  EXPECT_EQ(texts({of_rank(0)}), (Texts{"send pp.activation/forward 24 0"}));
  EXPECT_EQ(texts({of_rank(1)}), (Texts{"send pp.activation/forward 16 0"}));
  EXPECT_EQ(of_rank(1).group, "1 3");
}

// The head's stage: the input is gathered again in W, not in B.
TEST(PipelineCalls, GatherInputsAgainWhereTheWeightGradientsAre) {
  const Texts split = texts(rows("tp2-pp2.sp-zbh1-mb2-split2_1-steps1", 2));
  const Texts whole = texts(rows("tp2-pp2.sp-1f1b-mb2-split2_1-steps1", 2));
  const auto place = [](const Texts& lines, const std::string& text) {
    return std::find(lines.begin(), lines.end(), text) - lines.begin();
  };

  EXPECT_GT(place(split, "all_gather head.input/backward 80 0"),
            place(split, "send pp.gradient/backward 40 0"));
  EXPECT_LT(place(whole, "all_gather head.input/backward 80 0"),
            place(whole, "reduce_scatter head/backward 80 0"));
  EXPECT_EQ(split.size(), whole.size());
}

// The forward pass of the block once more, right before its backward pass.
TEST(RecomputeCalls, RepeatTheSumsOfTheBlock) {
  const Texts all = texts(rows("tp2.rc_full-steps1", 0));

  EXPECT_EQ(Texts(all.begin() + 6, all.begin() + 11),
            (Texts{"all_reduce head/backward 160 0", "all_reduce layer0.attn.out/recompute 160 0",
                   "all_reduce layer0.mlp.down/recompute 160 0",
                   "all_reduce layer0.mlp.up/backward 160 0",
                   "all_reduce layer0.attn.qkv/backward 160 0"}));
  EXPECT_EQ(texts(rows("tp2.rc_selective-steps1", 0)), texts(rows("tp2.steps1", 0)));
}

// Buckets of 128, 588 and 128 elements (shards_test.cpp); the tied head has no values of its own.
TEST(ZeroCalls, OfStage1AreOneScatterABucketAndOneGather) {
  EXPECT_EQ(texts(rows("dp2.zero1-steps1", 1)),
            (Texts{"all_reduce tokens/scalar 72 0", "reduce_scatter grad.dp/grad 128 0",
                   "reduce_scatter grad.dp/grad 588 0", "reduce_scatter grad.dp/grad 128 0",
                   "all_reduce norm/scalar 71 0", "all_gather param.dp/update 128 0",
                   "all_gather param.dp/update 588 0"}));
  const auto norm = rows("dp2-tp2.zero1-steps1", 0);
  EXPECT_EQ(norm[norm.size() - 3].axis, "dp,tp");
  EXPECT_EQ(norm[norm.size() - 3].group, "0 1 2 3");
}

TEST(ZeroCalls, OfStage2ScatterEveryMicroBatch) {
  EXPECT_EQ(texts(rows("dp2.mb2-zero2-steps1", 0)),
            (Texts{"reduce_scatter grad.dp/grad 128 0", "reduce_scatter grad.dp/grad 588 0",
                   "reduce_scatter grad.dp/grad 128 0", "reduce_scatter grad.dp/grad 128 1",
                   "reduce_scatter grad.dp/grad 588 1", "reduce_scatter grad.dp/grad 128 1",
                   "all_reduce tokens/scalar 72 0", "all_reduce norm/scalar 71 0",
                   "all_gather param.dp/update 128 0", "all_gather param.dp/update 588 0"}));
}

// llama-micro, untied: embedding 96, block, head 8 and 96 in one bucket.
TEST(ZeroCalls, OfStage3GatherAPieceAheadOfItsWork) {
  const Texts all = texts(rows("dp2.zero3-steps1", 0, "llama-micro"));

  ASSERT_EQ(all.size(), 11u);
  EXPECT_EQ(all[0], "all_gather param.dp/forward 96 0");
  EXPECT_EQ(all[2], "all_gather param.dp/forward 104 0");
  EXPECT_EQ(all[3], "all_gather param.dp/backward 104 0");
  EXPECT_EQ(all[5], "all_gather param.dp/backward 96 0");
  EXPECT_EQ(all[6], "reduce_scatter grad.dp/grad 96 0");
  EXPECT_EQ(all.back(), "all_reduce norm/scalar 71 0");
}

// Norms and row biases of a replica's half: elements 0 to 293 of the bucket of 40 + (532 of tp2's
// halves) hold what they hold of them, and both replicas' parts are 64 together.
TEST(ZeroCalls, SumOverTensorRanksWhatTheShardHolds) {
  std::int64_t count = 0;
  for (const int rank : {0, 2}) {
    for (const CollectiveRow& row : rows("dp2-tp2.sp-zero1-steps1", rank)) {
      count += row.site == "grad.sp/grad" ? row.count : 0;
    }
  }
  EXPECT_EQ(count, 64);
}

// Three replicas: the buckets are padded to 129, 588 and 129.
TEST(ZeroCalls, MoveThePaddingToo) {
  const auto all = rows("dp3.zero1-steps1", 0);

  EXPECT_EQ(all[1].count, 129);
  EXPECT_EQ(all[2].count, 588);
}

TEST(ZeroCalls, OfBucketsWithoutZeroAreOneSumEach) {
  EXPECT_EQ(texts(rows("dp2.bucket1-steps1", 0)),
            (Texts{"all_reduce tokens/scalar 72 0", "all_reduce grad.dp/grad 128 0",
                   "all_reduce grad.dp/grad 588 0", "all_reduce grad.dp/grad 128 0"}));
}

}  // namespace
}  // namespace meshparity::expect
