// The list written out by hand for a model of one layer: hidden 8, ffn 12, 4 heads of 2, vocabulary
// 13 padded to 16, 4 samples of 5 tokens.
#include "matrix/expect/calls.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace meshparity::expect {
namespace {

using Texts = std::vector<std::string>;

ModelSpec micro() {
  ModelSpec model;
  model.layers = 1;
  model.hidden = 8;
  model.ffn = 12;
  model.heads = 4;
  model.kv_heads = 4;
  model.head_dim = 2;
  model.vocabulary = 13;
  model.padded_vocabulary = 16;
  model.sequence = 5;
  model.global_batch = 4;
  return model;
}

std::vector<CollectiveRow> rows(const std::string& rest, int rank, const ModelSpec& model = micro(),
                                Level level = Level::standard) {
  const CaseSpec spec = parse_case("gpt-micro." + rest);
  return calls_of({spec, model}, level, rank);
}

/// "kind site count" of a step.
Texts texts(const std::vector<CollectiveRow>& all, int step = 0) {
  Texts lines;
  for (const CollectiveRow& row : all) {
    if (row.step == step) {
      lines.push_back(fmt::format("{} {} {}", row.kind, row.site, row.count));
    }
  }
  return lines;
}

Texts only(const Texts& lines, const std::string& part) {
  Texts kept;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(kept),
               [&](const std::string& line) { return line.find(part) != line.npos; });
  return kept;
}

// A = 4 * 5 * 8 = 160 and T = 20. The loss's third sum is of two numbers a token.
TEST(ExpectedCalls, OfTensorParallelismAreTwoSumsALayerEachWay) {
  const auto all = rows("tp2.steps1.fp64.host-threads", 1);

  EXPECT_EQ(texts(all),
            (Texts{"all_reduce embed/forward 160", "all_reduce layer0.attn.out/forward 160",
                   "all_reduce layer0.mlp.down/forward 160", "all_reduce loss.max/forward 20",
                   "all_reduce loss.target/forward 20", "all_reduce loss.sum/forward 40",
                   "all_reduce head/backward 160", "all_reduce layer0.mlp.up/backward 160",
                   "all_reduce layer0.attn.qkv/backward 160", "all_reduce norm/scalar 71"}));
  EXPECT_EQ(all[1].group, "0 1");
  EXPECT_EQ(all[1].axis, "tp");
  EXPECT_EQ(all[1].bytes, 160 * 8);
  EXPECT_EQ(all[1].type, "float64");
  EXPECT_EQ(all[9].type, "int64");
  EXPECT_EQ(all[9].sequence, 10);
}

// The rows of all norms (3 x 16), of attn.out.bias and of mlp.down.bias: 64 in one call.
TEST(ExpectedCalls, OfSequenceParallelismGatherAndScatterRows) {
  const auto all = rows("tp2.sp-smooth0-steps1.fp32.host-threads", 0);

  EXPECT_EQ(texts(all), (Texts{"reduce_scatter embed/forward 160",
                               "all_gather layer0.attn.qkv/forward 160",
                               "reduce_scatter layer0.attn.out/forward 160",
                               "all_gather layer0.mlp.up/forward 160",
                               "reduce_scatter layer0.mlp.down/forward 160",
                               "all_gather head/forward 160",
                               "all_reduce loss.max/forward 20",
                               "all_reduce loss.target/forward 20",
                               "all_reduce loss.sum/forward 20",
                               "all_gather head.input/backward 160",
                               "reduce_scatter head/backward 160",
                               "all_gather layer0.mlp.down/backward 160",
                               "all_gather layer0.mlp.up.input/backward 160",
                               "reduce_scatter layer0.mlp.up/backward 160",
                               "all_gather layer0.attn.out/backward 160",
                               "all_gather layer0.attn.qkv.input/backward 160",
                               "reduce_scatter layer0.attn.qkv/backward 160",
                               "all_gather embed/backward 160",
                               "all_reduce grad.sp/grad 64",
                               "all_reduce norm/scalar 71"}));
  EXPECT_EQ(all[0].bytes, 160 * 4);
}

// One sum a parameter; the vocabulary's with its padding, 16 x 8; the head's though it is tied.
TEST(ExpectedCalls, OfDataParallelismAreOneSumAParameterOnce) {
  const auto all = rows("dp2.mb2.fp64.host-threads", 1);
  const Texts lines = texts(all, 2);

  ASSERT_EQ(lines.size(), 1u + 21u);
  EXPECT_EQ(lines.front(), "all_reduce tokens/scalar 72");
  EXPECT_EQ(lines[1], "all_reduce grad.dp/grad 128");        // embed.weight
  EXPECT_EQ(lines[2], "all_reduce grad.dp/grad 40");         // embed.position
  EXPECT_EQ(lines[3], "all_reduce layer0.grad.dp/grad 8");   // norm1.weight
  EXPECT_EQ(lines[5], "all_reduce layer0.grad.dp/grad 64");  // attn.q.weight
  EXPECT_EQ(lines.back(), "all_reduce grad.dp/grad 128");    // head.weight
  EXPECT_EQ(all.size(), 3u * 22u);
}

TEST(ExpectedCalls, AreRepeatedForEachMicroBatchWithItsShareOfTheTokens) {
  const auto all = rows("tp2.mb2-steps1.fp64.host-threads", 0);

  ASSERT_EQ(all.size(), 2u * 9u + 1u);
  EXPECT_EQ(all[8].mb, 0);
  EXPECT_EQ(all[9].mb, 1);
  EXPECT_EQ(all[9].site, "embed/forward");
  EXPECT_EQ(all[9].count, 80);
}

// Two key heads on four ranks. Weights 8 x 2 and biases 2 of k and v: 36 from each of two ranks.
TEST(ExpectedCalls, SumKeyHeadsOverTheRanksThatHoldTheSame) {
  ModelSpec model = micro();
  model.kv_heads = 2;
  model.positions = Positions::rope;
  const auto standard = rows("tp4.steps1.fp64.host-threads", 3, model);
  const auto all = rows("tp4.steps1.fp64.host-threads", 3, model, Level::all);

  EXPECT_EQ(only(texts(standard), "grad."), (Texts{"all_reduce grad.kv/grad 36"}));
  EXPECT_EQ(only(texts(standard), "record"), Texts{});
  EXPECT_EQ(only(texts(all), "record"), (Texts{"all_reduce layer0.record.v/backward 40",
                                               "all_reduce layer0.record.k/backward 40",
                                               "all_reduce layer0.record.k_proj/backward 40"}));
  const auto found = std::find_if(standard.begin(), standard.end(),
                                  [](const auto& row) { return row.site == "grad.kv/grad"; });
  EXPECT_EQ(found->group, "2 3");
}

TEST(ExpectedCalls, SumNormsOfHeadsOverTpEvenWithoutSequenceParallelism) {
  ModelSpec model = micro();
  model.qk_norm = true;

  EXPECT_EQ(only(texts(rows("tp2.steps1.fp64.host-threads", 0, model)), "grad.tp"),
            (Texts{"all_reduce grad.tp/grad 4"}));
}

// Step 1 is skipped: its gradients are infinite, and nobody asks for their norm.
TEST(ExpectedCalls, AskForInfinitiesWithLossScalingAndForNoNormWhenSkipped) {
  const auto all = rows("tp2.lscale.fp64.host-threads", 0);

  EXPECT_EQ(only(texts(all, 0), "scalar"),
            (Texts{"all_reduce found_inf/scalar 1", "all_reduce norm/scalar 71"}));
  EXPECT_EQ(only(texts(all, 1), "scalar"), (Texts{"all_reduce found_inf/scalar 1"}));
}

TEST(ExpectedCalls, DoNotDependOnOptimizerClipLossModeOrDropout) {
  const Texts plain = texts(rows("dp2-tp2.plain.fp64.host-threads", 2));

  for (const char* features : {"sgd", "momentum", "clip_off", "clip_near", "loss_mbmean",
                               "loss_legacy", "drop0", "maskfull"}) {
    EXPECT_EQ(texts(rows(fmt::format("dp2-tp2.{}.fp64.host-threads", features), 2)), plain)
        << features;
  }
}

TEST(ExpectedCalls, OfAProbeAreTheSumsOfGradientsAlone) {
  const auto all = rows("dp2-tp2.sp-steps1.fp64.host-threads+probe", 0);

  ASSERT_EQ(all.size(), 22u);  // 21 parameters, then norms and row biases
  EXPECT_EQ(all.back().site, "grad.sp/grad");
}

TEST(ExpectedCalls, OfASingleRankAreNone) {
  EXPECT_TRUE(rows("single.mb2.fp64.host-threads", 0).empty());
}

TEST(ExpectedCalls, AreRefusedWhereNoFormulaIsThere) {
  const auto why = [](const std::string& rest) {
    return why_no_calls(parse_case("gpt-micro." + rest)).value_or("");
  };

  EXPECT_EQ(why("dp2-tp2.sp-mb2.fp32.host-threads+skip_dp_grad"), "");
  EXPECT_EQ(why("dp2-pp2.zbh1-mb2-zero3-rc_full.fp64.host-threads"), "");
  EXPECT_EQ(why("cp2.cp_ring.fp64.host-threads"), "no expectation for cp2 yet");
  EXPECT_EQ(why("pp2.pipedream-mb4-clip_off.fp64.host-threads"), "");
  EXPECT_EQ(why("dp2.gradcomm_bf16.fp64.host-threads"), "");
  EXPECT_EQ(why("single.plain.bf16.host-threads"), "");
  EXPECT_EQ(why("dp2.plain.tf32.cuda-threads"), "");
  EXPECT_NE(why("single.plain.fp64.host-threads+halt-s1+resume"), "");
}

TEST(ExpectedCalls, AreNamedInOneLine) {
  EXPECT_EQ(call_text(rows("tp2.mb2.fp64.host-threads", 1)[2]),
            "all_reduce of 80 float64 at layer0.mlp.down/forward mb 0 in tp group 0 1");
}

}  // namespace
}  // namespace meshparity::expect
