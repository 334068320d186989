#include "parallel_impl/model/parameters.hpp"

#include <gtest/gtest.h>

#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {
namespace {

ModelSpec micro() {
  return load_named_model(MESHPARITY_MODELS, "gpt-micro");
}

ParamSlice slice_of(const std::string& name, int tp, int tp_index) {
  for (const ParamSpec& param : param_table(micro())) {
    if (param.name == name) {
      return meshparity::slice_of(param, micro(), tp, tp_index);
    }
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(ParamSlice, ColumnParallelWeightsAreCutByOutputs) {
  const ParamSlice weight = slice_of("layer0.mlp.up.weight", 4, 1);  // [8, 12]
  const ParamSlice bias = slice_of("layer0.mlp.up.bias", 4, 1);

  EXPECT_EQ(weight.box, (Box{{0, 3}, {8, 3}}));
  EXPECT_EQ(weight.shard_dim, 1);
  EXPECT_EQ(bias.box, (Box{{3}, {3}}));
}

TEST(ParamSlice, RowParallelWeightsAreCutByInputsAndTheirBiasIsWhole) {
  const ParamSlice weight = slice_of("layer0.attn.out.weight", 2, 1);  // [8, 8]
  const ParamSlice bias = slice_of("layer0.attn.out.bias", 2, 1);

  EXPECT_EQ(weight.box, (Box{{4, 0}, {4, 8}}));
  EXPECT_EQ(bias.box, (Box{{0}, {8}}));
  EXPECT_EQ(bias.shard_dim, -1);
}

TEST(ParamSlice, NormsAndPositionsAreWhole) {
  EXPECT_EQ(slice_of("layer0.norm1.weight", 4, 3).box, (Box{{0}, {8}}));
  EXPECT_EQ(slice_of("embed.position", 4, 3).box, (Box{{0, 0}, {5, 8}}));
}

TEST(ParamSlice, VocabularyIsCutWithItsPadding) {
  // 13 tokens in 16 rows over 8 ranks: 2 rows each, rank 6 holds one token, rank 7 none.
  const ParamSlice part = slice_of("embed.weight", 8, 6);
  const ParamSlice none = slice_of("head.weight", 8, 7);

  EXPECT_EQ(part.rows, 2);
  EXPECT_EQ(part.box, (Box{{12, 0}, {1, 8}}));
  EXPECT_EQ(part.logical, 8);
  EXPECT_EQ(none.rows, 2);
  EXPECT_EQ(none.box, (Box{{13, 0}, {0, 8}}));
  EXPECT_EQ(none.logical, 0);
}

ParamSlice llama_slice(const std::string& name, int tp, int tp_index) {
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "llama-micro");
  for (const ParamSpec& param : param_table(model)) {
    if (param.name == name) {
      return meshparity::slice_of(param, model, tp, tp_index);
    }
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(ParamSlice, WithFewerKeyHeadsThanRanksSeveralHoldTheSameKeyWeight) {
  const ParamSlice first = llama_slice("layer0.attn.k.weight", 4, 2);  // [8, 2 heads * 4]
  const ParamSlice second = llama_slice("layer0.attn.v.weight", 4, 3);
  const ParamSlice query = llama_slice("layer0.attn.q.weight", 4, 3);  // [8, 4 heads * 4]

  EXPECT_EQ(first.box, (Box{{0, 4}, {8, 4}}));
  EXPECT_EQ(second.box, first.box);
  EXPECT_EQ(first.copies, 2);
  EXPECT_EQ(first.copy, 0);
  EXPECT_EQ(second.copy, 1);
  EXPECT_EQ(query.box, (Box{{0, 12}, {8, 4}}));
  EXPECT_EQ(query.copies, 1);
  EXPECT_EQ(llama_slice("layer0.attn.k.weight", 2, 1).copies, 1);
}

TEST(ParamSlice, WholeParametersSayWhatTheyAreAppliedTo) {
  EXPECT_EQ(llama_slice("layer0.attn.q_norm.weight", 2, 1).use, WholeUse::local_heads);
  EXPECT_EQ(llama_slice("layer0.attn.k_norm.weight", 2, 1).use, WholeUse::local_heads);
  EXPECT_EQ(llama_slice("final_norm.weight", 2, 1).use, WholeUse::stream_rows);
  EXPECT_EQ(slice_of("layer0.norm1.bias", 2, 1).use, WholeUse::stream_rows);
  EXPECT_EQ(slice_of("layer0.mlp.down.bias", 2, 1).use, WholeUse::stream_rows);
  EXPECT_EQ(slice_of("embed.position", 2, 1).use, WholeUse::same_work);
  EXPECT_EQ(slice_of("layer0.mlp.up.bias", 2, 1).use, WholeUse::same_work);
}

Mesh mesh_of(int tp, int rank) {
  CaseSpec spec;
  spec.mesh.set_degree(Axis::tp, tp);
  return {spec, rank};
}

TEST(Parameters, SlicesOfAllRanksAreTheGlobalInitialValues) {
  const std::vector<ParamSpec> table = param_table(micro());
  for (const int tp : {1, 2, 4}) {
    for (int rank = 0; rank < tp; ++rank) {
      const auto backend = make_host_backend<double>();
      Parameters<double> params(micro(), mesh_of(tp, rank), 5, *backend);
      for (std::size_t i = 0; i < table.size(); ++i) {
        std::vector<double> global(static_cast<std::size_t>(element_count(table[i].shape)));
        initial_values(table, i, 5, 0, global);
        const Param<double>& param = params.all()[i];
        const Box& box = param.slice.box;
        for (int at = 0; at < param.slice.logical; ++at) {
          const auto row = at / box.extent.back();
          const auto column = at % box.extent.back() + box.start.back();
          const auto global_row = box.start.size() == 2 ? box.start[0] + row : 0;
          const auto flat = static_cast<std::size_t>(global_row * table[i].shape.back() + column);
          ASSERT_EQ(param.value[at], global[flat]) << param.spec.name << " at " << at;
        }
      }
    }
  }
}

TEST(Parameters, PaddingIsZero) {
  const auto backend = make_host_backend<double>();
  Parameters<double> params(micro(), mesh_of(1, 0), 1, *backend);

  const Param<double>& table = params.at("embed.weight");

  ASSERT_EQ(table.count() - table.slice.logical, 24);
  for (int i = table.slice.logical; i < table.count(); ++i) {
    EXPECT_EQ(table.value[i], 0);
  }
}

TEST(Parameters, ATiedHeadSharesItsValueAndKeepsItsGradient) {
  const auto backend = make_host_backend<double>();
  Parameters<double> params(micro(), mesh_of(1, 0), 1, *backend);

  EXPECT_EQ(params.at("head.weight").value, params.at("embed.weight").value);
  EXPECT_NE(params.at("head.weight").grad, params.at("embed.weight").grad);
  EXPECT_TRUE(params.at("head.weight").shares_value);
}

TEST(Parameters, ATiedHeadWithoutTheEmbeddingOwnsItsValue) {
  const auto backend = make_host_backend<double>();
  const ModelSpec model = micro();
  const int last = model.layers + 1;
  Parameters<double> params(
      model, mesh_of(1, 0), initial_source(1), *backend,
      {[&](const ParamSpec& param) { return piece_of(param, model) == last ? 3 : -1; }, {}});
  Parameters<double> whole(model, mesh_of(1, 0), 1, *backend);

  ASSERT_EQ(params.all().size(), 3U);
  const Param<double>& head = params.at("head.weight");
  EXPECT_TRUE(head.is_tied());
  EXPECT_FALSE(head.shares_value);
  EXPECT_EQ(head.chunk, 3);
  EXPECT_EQ(params.find("embed.weight"), nullptr);
  for (int i = 0; i < head.count(); ++i) {
    ASSERT_EQ(head.value[i], whole.at("embed.weight").value[i]);
  }
}

}  // namespace
}  // namespace meshparity
