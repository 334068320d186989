#include "matrix/relations.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

std::string partner_of(std::string_view relation, const std::string& id) {
  const auto partner = find_relation(relation).partner(parse_case(id));
  return partner ? format_case(partner->spec) : "nothing";
}

std::set<std::string> selected(std::string_view relation, int step) {
  const CaseSpec spec = parse_case("gpt-micro.tp2.sp.fp64.host-threads");
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, spec.model);
  const std::vector<RecordSpec> table = record_table(model, spec);
  std::set<std::string> names;
  for (const RecordSpec& record : table) {
    if (selects(find_relation(relation), table, {step, record.phase, record.name})) {
      names.insert(std::string(phase_name(record.phase)) + " " + record.name);
    }
  }
  return names;
}

TEST(Relations, NamesEachPartner) {
  EXPECT_EQ(partner_of("repeat", "gpt-micro.dp2.plain.fp64.host-threads"),
            "gpt-micro.dp2.plain.fp64.host-threads");
  EXPECT_EQ(partner_of("eager", "gpt-micro.dp2.plain.fp64.host-procs"),
            "gpt-micro.dp2.eager.fp64.host-procs");
  EXPECT_EQ(partner_of("procs", "gpt-micro.dp2.plain.fp32.host-threads"),
            "gpt-micro.dp2.plain.fp32.host-procs");
  EXPECT_EQ(partner_of("mpi", "gpt-micro.dp2.plain.fp64.host-threads"),
            "gpt-micro.dp2.plain.fp64.host-mpi");
  EXPECT_EQ(partner_of("rank_order", "gpt-micro.dp2-tp2.mb2.fp64.host-threads"),
            "gpt-micro.dp2-tp2.mb2-order_pp_dp_ep_cp_tp.fp64.host-threads");
  EXPECT_EQ(partner_of("sp", "gpt-micro.dp2-tp2.sp-mb2.fp64.host-threads"),
            "gpt-micro.dp2-tp2.mb2.fp64.host-threads");
  EXPECT_EQ(partner_of("tp1", "gpt-micro.dp2-tp2.sp-mb2.fp64.host-threads"),
            "gpt-micro.dp2.mb2.fp64.host-threads");
}

TEST(Relations, NamesThePartnersOfPipelines) {
  const std::string id = "mixed-micro.dp2-pp2.int2-mb2-zero3-rc_full-split2_2.fp64.host-threads";

  EXPECT_EQ(partner_of("pp1", id), "mixed-micro.dp2.mb2-zero3-rc_full.fp64.host-threads");
  EXPECT_EQ(partner_of("schedule", id),
            "mixed-micro.dp2-pp2.1f1b-mb2-zero3-rc_full-split2_2.fp64.host-threads");
  EXPECT_EQ(partner_of("schedule", "mixed-micro.pp2.1f1b.fp64.host-threads"),
            "mixed-micro.pp2.gpipe.fp64.host-threads");
  EXPECT_EQ(partner_of("split", id),
            "mixed-micro.dp2-pp2.int2-mb2-zero3-rc_full.fp64.host-threads");
  EXPECT_EQ(partner_of("recompute", id),
            "mixed-micro.dp2-pp2.int2-mb2-zero3-split2_2.fp64.host-threads");
  EXPECT_EQ(partner_of("pp1", "llama-micro.pp2.pipedream-mb4-clip_off.fp64.host-threads"),
            "nothing");
}

TEST(Relations, NamesThePartnersOfAsynchronousPipelines) {
  const std::string pipedream = "llama-micro.pp2.pipedream-mb4-clip_off-split1_2.fp32.host-threads";
  const std::string sync =
      "llama-micro.pp2.pipedream_vsync-mb4-clip_off-split1_2.fp64.host-threads";
  const std::string buffered = "llama-micro.dp2-pp3.pipedream_2bw-mb4-clip_off.fp64.host-threads";

  for (const char* name : {"pp1", "schedule", "split", "stages", "world1"}) {
    EXPECT_EQ(partner_of(name, pipedream), "nothing") << name;
  }
  EXPECT_EQ(partner_of("vsync", pipedream),
            "llama-micro.pp2.pipedream_vsync-mb4-clip_off-split1_2.fp32.host-threads");
  EXPECT_EQ(partner_of("split", sync),
            "llama-micro.pp2.pipedream_vsync-mb4-clip_off.fp64.host-threads");
  EXPECT_EQ(partner_of("vsync", sync), "nothing");
  EXPECT_EQ(partner_of("stages", sync), "nothing");
  EXPECT_EQ(partner_of("stages", buffered),
            "llama-micro.dp2-pp2.pipedream_2bw-mb4-clip_off.fp64.host-threads");
  EXPECT_TRUE(find_relation("vsync").first_step_only);
}

TEST(Relations, MeasuresAPipelineWithoutItsStages) {
  EXPECT_EQ(partner_of("world1", "mixed-micro.dp2-pp2.int2-mb2-split2_2.fp32.host-threads"),
            "mixed-micro.single.mb2.fp32.host-threads");
}

TEST(Relations, NamesThePartnersOfZero) {
  EXPECT_EQ(partner_of("zero1", "gpt-micro.dp2.mb2-zero1_param.fp64.host-threads"),
            "gpt-micro.dp2.mb2.fp64.host-threads");
  EXPECT_EQ(partner_of("zero2", "gpt-micro.dp2.zero2-overlap_off.fp64.host-threads"),
            "gpt-micro.dp2.plain.fp64.host-threads");
  EXPECT_EQ(partner_of("zero2", "gpt-micro.dp2.mb2-zero2.fp64.host-threads"), "nothing");
  EXPECT_EQ(partner_of("zero3", "gpt-micro.dp2.mb2-zero3_param.fp64.host-threads"),
            "gpt-micro.dp2.mb2-zero2_param.fp64.host-threads");
  EXPECT_EQ(partner_of("flat", "gpt-micro.dp2.zero3_param.fp64.host-threads"),
            "gpt-micro.dp2.zero3.fp64.host-threads");
  EXPECT_EQ(partner_of("bucket", "gpt-tiny.dp2.zero1-bucket2.fp64.host-threads"),
            "gpt-tiny.dp2.zero1.fp64.host-threads");
  EXPECT_EQ(partner_of("overlap", "gpt-micro.dp2.zero2.fp64.host-threads"),
            "gpt-micro.dp2.zero2-overlap_off.fp64.host-threads");
  EXPECT_EQ(partner_of("overlap", "gpt-micro.dp2.zero1.fp64.host-threads"), "nothing");
}

TEST(Relations, MeasuresAPrecisionAgainstItsOwnSingleProcess) {
  EXPECT_EQ(partner_of("world1", "gpt-micro.dp2-tp2.sp-mb2.fp32.host-threads"),
            "gpt-micro.single.mb2.fp32.host-threads");
  EXPECT_EQ(partner_of("world1", "gpt-micro.dp2.plain.fp64.host-threads"), "nothing");
  EXPECT_TRUE(find_relation("world1").measured);
}

TEST(Relations, SayNothingWhereTheyHaveNoPartner) {
  EXPECT_EQ(partner_of("procs", "gpt-micro.dp2.plain.fp64.host-procs"), "nothing");
  EXPECT_EQ(partner_of("rank_order", "gpt-micro.dp4.plain.fp64.host-threads"), "nothing");
  EXPECT_EQ(partner_of("sp", "gpt-micro.tp2.plain.fp64.host-threads"), "nothing");
  EXPECT_EQ(partner_of("tp1", "gpt-micro.dp2.plain.fp64.host-threads"), "nothing");
}

// NCCL adds in an order of its own, unless the sums are ordered.
TEST(Relations, NeedOrderedSums) {
  EXPECT_EQ(partner_of("rank_order", "gpt-micro.dp2-tp2.plain.fp64.cuda-nccl"), "nothing");
  EXPECT_NE(partner_of("rank_order", "gpt-micro.dp2-tp2.ordered.fp64.cuda-nccl"), "nothing");
  EXPECT_EQ(partner_of("tp1", "gpt-micro.tp2.ordered.fp64.cuda-nccl"), "nothing");
  EXPECT_NE(partner_of("tp1", "gpt-micro.tp2.ordered-fixedgemm.fp64.cuda-nccl"), "nothing");
}

// cuBLAS may sum a product in another order where the matrices have another shape.
TEST(Relations, NeedFixedProductsOnAGpu) {
  EXPECT_EQ(partner_of("tp1", "gpt-micro.tp2.plain.fp64.cuda-threads"), "nothing");
  EXPECT_NE(partner_of("tp1", "gpt-micro.tp2.fixedgemm.fp64.cuda-threads"), "nothing");
}

TEST(Relations, SequenceParallelismChangesTheOrderOfRowSumsOnly) {
  const std::set<std::string> names = selected("sp", 0);

  EXPECT_TRUE(names.contains("forward logits"));
  EXPECT_TRUE(names.contains("backward layer0.in"));
  EXPECT_TRUE(names.contains("loss loss"));
  EXPECT_TRUE(names.contains("grad layer0.mlp.up.weight"));
  EXPECT_TRUE(names.contains("grad embed.weight"));
  EXPECT_FALSE(names.contains("grad layer0.norm1.weight"));
  EXPECT_FALSE(names.contains("grad layer0.mlp.down.bias"));
  EXPECT_FALSE(names.contains("grad embed.position"));
  EXPECT_FALSE(names.contains("param layer0.mlp.up.weight"));
  EXPECT_TRUE(selected("sp", 1).empty());
}

TEST(Relations, TensorParallelismIsExactBeforeItsFirstSum) {
  const std::set<std::string> names = selected("tp1", 0);

  EXPECT_TRUE(names.contains("forward layer0.in"));
  EXPECT_TRUE(names.contains("forward layer0.attn.context"));
  EXPECT_FALSE(names.contains("forward layer0.attn.out"));
  EXPECT_FALSE(names.contains("backward layer0.in"));
  EXPECT_TRUE(selected("tp1", 1).empty());
}

TEST(Relations, TheSameCaseIsEqualInEveryRecordOfEveryStep) {
  EXPECT_TRUE(selected("repeat", 2).contains("moment2 layer0.mlp.up.weight"));
  EXPECT_FALSE(selects(find_relation("repeat"), {}, {0, Phase::forward, "unheard.of"}));
}

TEST(Relations, RefusesANameThatIsNone) {
  EXPECT_THROW(find_relation("order"), UsageError);
}

}  // namespace
}  // namespace meshparity
