#include "matrix/expect/owners.hpp"

#include <gtest/gtest.h>

#include "fixtures/error.hpp"

namespace meshparity::expect {
namespace {

/// 6 query heads of 2, hidden 12, ffn 18, vocabulary 17 padded to 24.
ModelSpec model_with(int kv_heads) {
  ModelSpec model;
  model.hidden = 12;
  model.ffn = 18;
  model.heads = 6;
  model.kv_heads = kv_heads;
  model.head_dim = 2;
  model.vocabulary = 17;
  model.padded_vocabulary = 24;
  return model;
}

CaseSpec spec_of(int dp, int tp, bool sp = false) {
  CaseSpec spec;
  spec.mesh = MeshShape({dp, tp, 1, 1, 1, 1});
  spec.sequence_parallel = sp;
  return spec;
}

ParamPart part(const CaseSpec& spec, int rank, std::string name, std::vector<std::int64_t> shape,
               int kv_heads = 6) {
  const ModelSpec model = model_with(kv_heads);
  ParamSpec param;
  param.name = std::move(name);
  param.shape = std::move(shape);
  return part_of(param, {spec, model}, rank);
}

TEST(ExpectedOwner, CutsOutputsInputsAndTheBiasOfOutputs) {
  const CaseSpec spec = spec_of(1, 3);

  EXPECT_EQ(part(spec, 1, "layer0.mlp.up.weight", {12, 18}).box, (Box{{0, 6}, {12, 6}}));
  EXPECT_EQ(part(spec, 1, "layer0.mlp.up.bias", {18}).box, (Box{{6}, {6}}));
  EXPECT_EQ(part(spec, 2, "layer11.mlp.down.weight", {18, 12}).box, (Box{{12, 0}, {6, 12}}));
  EXPECT_EQ(part(spec, 2, "layer0.attn.sink", {6}).box, (Box{{4}, {2}}));
  EXPECT_EQ(part(spec, 2, "layer0.mlp.down.bias", {12}).box, (Box{{0}, {12}}));
  EXPECT_FALSE(part(spec, 2, "layer0.mlp.down.bias", {12}).cut);
}

// 24 padded rows on 4 ranks are 6 each; of 17 real ones the third rank has 5, the last none.
TEST(ExpectedOwner, GivesPaddingToTheLastRanksOfTheVocabulary) {
  const CaseSpec spec = spec_of(1, 4);

  EXPECT_EQ(part(spec, 2, "embed.weight", {17, 12}).box, (Box{{12, 0}, {5, 12}}));
  EXPECT_EQ(part(spec, 3, "head.weight", {17, 12}).box, (Box{{17, 0}, {0, 12}}));
  EXPECT_EQ(part(spec, 3, "head.weight", {17, 12}).in_memory, 6 * 12);
}

// Two key heads on six ranks: ranks 3, 4, 5 hold the second one's two columns, and dump rows 0 to
// 3, 4 to 7, 8 to 11 of them; of a bias of two elements the first two ranks dump one each.
TEST(ExpectedOwner, SharesKeyHeadsAmongRanksInARow) {
  const CaseSpec spec = spec_of(2, 6);

  const ParamPart fifth = part(spec, 10, "layer0.attn.k.weight", {12, 4}, 2);
  EXPECT_EQ(fifth.box, (Box{{0, 2}, {12, 2}}));
  EXPECT_EQ(fifth.dumped, (Box{{4, 2}, {4, 2}}));
  EXPECT_EQ(fifth.copies, 3);
  EXPECT_EQ(fifth.copy, 1);
  EXPECT_EQ(fifth.contributors, 2 * 3);
  EXPECT_EQ(part(spec, 4, "layer0.attn.v.bias", {4}, 2).dumped, (Box{{3}, {1}}));
  EXPECT_EQ(part(spec, 5, "layer0.attn.v.bias", {4}, 2).dumped, (Box{{4}, {0}}));
  EXPECT_EQ(part(spec, 5, "layer0.attn.q.weight", {12, 12}, 2).copies, 1);
}

TEST(ExpectedOwner, KnowsWhichWholeGradientsAreSumsOverTp) {
  const auto partial = [](const CaseSpec& spec, const std::string& name) {
    return part(spec, 0, name, {12}).partial;
  };

  EXPECT_TRUE(partial(spec_of(1, 2), "layer0.attn.q_norm.weight"));
  EXPECT_FALSE(partial(spec_of(1, 2), "layer0.norm1.weight"));
  EXPECT_TRUE(partial(spec_of(1, 2, true), "layer0.norm1.weight"));
  EXPECT_TRUE(partial(spec_of(1, 2, true), "layer0.attn.out.bias"));
  EXPECT_FALSE(partial(spec_of(1, 2, true), "layer0.attn.q.bias"));
  EXPECT_FALSE(partial(spec_of(1, 2, true), "embed.position"));
  EXPECT_FALSE(partial(spec_of(3, 1), "layer0.attn.q_norm.weight"));
  EXPECT_EQ(part(spec_of(2, 3, true), 0, "final_norm.weight", {12}).contributors, 6);
  EXPECT_EQ(part(spec_of(2, 3), 0, "final_norm.weight", {12}).contributors, 2);
}

TEST(ExpectedOwner, RefusesAParameterWithoutAFormula) {
  EXPECT_THROW(part(spec_of(1, 2), 0, "layer0.attn.gate.weight", {12, 12}), Error);
}

TEST(ExpectedShare, GivesOneMoreToTheFirstRanks) {
  EXPECT_EQ(share_of(7, 3, 0).count, 3);
  EXPECT_EQ(share_of(7, 3, 1).first, 3);
  EXPECT_EQ(share_of(7, 3, 2).first, 5);
  EXPECT_EQ(share_of(2, 3, 2).count, 0);
}

}  // namespace
}  // namespace meshparity::expect
