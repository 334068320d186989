// Buckets and shards by hand. gpt-micro: hidden 8, ffn 12, vocabulary 13 padded to 16, sequence 5,
// one block. Its parameters in order: embed.weight 128, embed.position 40, norm1 8 8, q k v 64 8
// each, out 64 8, norm2 8 8, up 96 12, down 96 8, final_norm 8 8, head.weight 128.
#include "matrix/expect/shards.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace meshparity::expect {
namespace {

class Case {
 public:
  explicit Case(const std::string& rest, const std::string& model_name = "gpt-micro")
      : spec(parse_case(model_name + "." + rest + ".fp64.host-threads")),
        model(load_named_model(MESHPARITY_MODELS, model_name)) {}

  std::vector<std::int64_t> sizes(int rank) const {
    std::vector<std::int64_t> all;
    for (const Bucket& bucket : buckets_of({spec, model}, rank)) {
      all.push_back(bucket.elements);
    }
    return all;
  }
  Range shard(const std::string& name, int rank) const {
    const std::vector<ParamSpec> params = param_table(model);
    return shard_of(*std::find_if(params.begin(), params.end(),
                                  [&](const ParamSpec& each) { return each.name == name; }),
                    {spec, model}, rank);
  }

  CaseSpec spec;
  ModelSpec model;
};

using Sizes = std::vector<std::int64_t>;

// The tied weight alone at both ends; between them 40 + 532 + 16 = 588 elements.
TEST(ExpectedBucket, IsOneBetweenTheTiedWeights) {
  EXPECT_EQ(Case("dp2.zero1").sizes(0), (Sizes{128, 588, 128}));
  EXPECT_EQ(Case("dp2.zero1", "llama-micro").sizes(0).size(), 1u);
}

// Pieces: embedding 128 and 40, the block, the head's norm and weight.
TEST(ExpectedBucket, ClosesAtThePiecesThatZero3Gathers) {
  EXPECT_EQ(Case("dp2.zero3").sizes(0), (Sizes{128, 40, 532, 16, 128}));
}

// On two stages: embedding and block, head; each has its own tied weight.
TEST(ExpectedBucket, HoldsParametersOfItsStageOnly) {
  EXPECT_EQ(Case("dp2-pp2.gpipe-zero1-split2_1").sizes(0), (Sizes{128, 572}));
  EXPECT_EQ(Case("dp2-pp2.gpipe-zero1-split2_1").sizes(3), (Sizes{16, 128}));
}

TEST(ExpectedBucket, IsAParameterWithoutZeroAndWithParam) {
  EXPECT_EQ(Case("dp2.plain").sizes(0).size(), 21u);
  EXPECT_EQ(Case("dp2.zero2_param").sizes(0).size(), 21u);
}

// gpt-tiny, D = 2: a bucket closes behind the parameter with which it reaches 1,024 elements.
TEST(ExpectedBucket, ClosesWhereItIsFull) {
  const Sizes sizes = Case("dp2.zero1-bucket1", "gpt-tiny").sizes(0);

  EXPECT_EQ(sizes.front(), 264 * 72);
  EXPECT_EQ(sizes[1], 21 * 72);            // positions: 1,512
  EXPECT_EQ(sizes[2], 72 + 72 + 72 * 72);  // norm1 and q.weight
  EXPECT_EQ(sizes[3], 72 + 72 * 72);       // q.bias and k.weight
}

// 588 elements on three replicas divide, 128 do not: 129 with padding, 43 each.
TEST(ExpectedShard, IsARangeOfItsBucketWithPaddingBehind) {
  const Case three("dp3.zero1");

  EXPECT_EQ(buckets_of({three.spec, three.model}, 0).front().in_memory, 129);
  EXPECT_EQ(three.shard("embed.weight", 0), (Range{0, 43}));
  EXPECT_EQ(three.shard("embed.weight", 2), (Range{86, 128}));
  // Bucket elements 196 to 391 are replica 1's: q.weight lies at 56, k.weight at 128, v.weight at
  // 200, out.weight at 272, norm2 at 344 and 352, up.weight at 360.
  EXPECT_EQ(three.shard("layer0.attn.k.weight", 0), (Range{0, 64}));
  EXPECT_EQ(three.shard("layer0.attn.k.bias", 0), (Range{0, 4}));
  EXPECT_EQ(three.shard("layer0.attn.k.bias", 1), (Range{4, 8}));
  EXPECT_EQ(three.shard("layer0.mlp.up.weight", 1), (Range{0, 32}));
  EXPECT_EQ(three.shard("layer0.mlp.up.weight", 0), (Range{0, 0}));
  EXPECT_EQ(three.shard("layer0.attn.k.weight", 2), (Range{64, 64}));
}

// ceil(5 / 4) = 2 rows of positions: 2, 2, 1 and none.
TEST(ExpectedShard, IsRowsWithParamAndTheLastReplicasMayHaveNone) {
  const Case four("dp4.zero2_param");

  EXPECT_EQ(four.shard("embed.position", 0), (Range{0, 16}));
  EXPECT_EQ(four.shard("embed.position", 2), (Range{32, 40}));
  EXPECT_EQ(four.shard("embed.position", 3), (Range{40, 40}));
  EXPECT_EQ(four.shard("layer0.mlp.up.bias", 3), (Range{9, 12}));
}

// tp2 cuts the columns of q.weight; the shard is a range of the rank's own [8, 4].
TEST(ExpectedShard, IsOfTheRanksOwnSlice) {
  const Case both("dp2-tp2.zero1");
  const ParamSpec query{"layer0.attn.q.weight", {8, 8}, 0, true, 0, 0, ""};

  const Placement place = part_of(query, Phase::moment1, {both.spec, both.model}, 1);
  const auto& flat = std::get<FlatPlacement>(place);

  EXPECT_EQ(flat.box, (Box{{0, 4}, {8, 4}}));
  EXPECT_EQ(flat.lo, 0);
  EXPECT_EQ(flat.hi, 32);
  EXPECT_TRUE(std::holds_alternative<BoxPlacement>(
      part_of(query, Phase::param, {both.spec, both.model}, 1)));
}

// Four tensor ranks, two key heads: ranks 0 and 1 hold k.weight [8, 4] alike and record 4 rows
// each; of them the replicas' halves of the bucket.
TEST(ExpectedShard, OfSharedKeyHeadsIsWithinTheRowsThatTheRankRecords) {
  const Case shared("dp2-tp4.zero1_param", "llama-micro");
  const ParamSpec key{"layer0.attn.k.weight", {8, 8}, 0, true, 0, 0, ""};
  const auto lo_hi = [&](int rank) {
    const auto flat =
        std::get<FlatPlacement>(part_of(key, Phase::grad, {shared.spec, shared.model}, rank));
    return Range{flat.lo, flat.hi};
  };

  EXPECT_EQ(lo_hi(0), (Range{0, 16}));   // dp0 tp0: rows 0 to 3 of rows 0 to 3
  EXPECT_EQ(lo_hi(1).count(), 0);        // dp0 tp1: rows 4 to 7 of rows 0 to 3
  EXPECT_EQ(lo_hi(5), (Range{16, 32}));  // dp1 tp1
}

TEST(ExpectedShard, IsWhatIsDumpedFromAStageOnByPhase) {
  EXPECT_FALSE(is_sharded(Phase::grad, Case("dp2.plain").spec));
  EXPECT_TRUE(is_sharded(Phase::grad, Case("dp2.zero1").spec));
  EXPECT_FALSE(is_sharded(Phase::param, Case("dp2.zero2").spec));
  EXPECT_TRUE(is_sharded(Phase::param, Case("dp2.zero3").spec));
}

}  // namespace
}  // namespace meshparity::expect
