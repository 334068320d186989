// Parameters over stages and shards: dumps by hand, whole and with one gap each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "matrix/checks/coverage_cases.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

CheckResult coverage_of(MadeCase& made) {
  Evidence evidence = made.write();
  evidence.model = load_named_model(MESHPARITY_MODELS, made.spec.model);
  return result_of(judge(evidence), "coverage");
}

/// A record of gpt-micro's parameters in phase grad.
void add_grad(MadeCase& made, const std::string& name, std::vector<std::int64_t> shape,
              std::int64_t count) {
  made.add(name, std::move(shape), counted(count)).spec.phase = Phase::grad;
}

// Stage 0 has embedding and block, stage 1 the head.
class StageCase {
 public:
  StageCase() : made("gpt-micro.pp2.gpipe-sgd-split2_1-steps1.fp64.host-threads") {
    add_grad(made, "embed.position", {5, 8}, 40);
    add_grad(made, "final_norm.bias", {8}, 8);
  }
  CheckResult coverage(int rank_of_positions, int rank_of_norm) {
    made.give(rank_of_positions, "embed.position", box({0, 0}, {5, 8}), "dp,tp");
    made.give(rank_of_norm, "final_norm.bias", box({0}, {8}), "dp,tp");
    return coverage_of(made);
  }
  MadeCase made;
};

TEST(ShardOwners, OfAPipelineHoldTheirStagesParametersOnly) {
  EXPECT_EQ(StageCase().coverage(0, 1).verdict, Verdict::conforms);
}

TEST(ShardOwners, OfAnotherStageAreNamed) {
  const CheckResult result = StageCase().coverage(0, 0);

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].record, "final_norm.bias");
  EXPECT_THAT(result.findings[0].text, HasSubstr("no piece from rank 1 (pp1)"));
}

TEST(ShardOwners, OfTwoStagesThatBothHoldAPieceAreFound) {
  StageCase both;
  both.made.give(0, "final_norm.bias", box({0}, {0}), "dp,tp");

  EXPECT_EQ(both.coverage(0, 1).verdict, Verdict::conforms);  // nothing is held twice

  StageCase twice;
  twice.made.give(0, "final_norm.bias", box({0}, {8}), "dp,tp");
  EXPECT_THAT(twice.coverage(0, 1).findings.at(0).text, HasSubstr("overlap of 8 elements"));
}

TEST(ShardOwners, OfAScalarIsEveryStage) {
  MadeCase made("gpt-micro.pp2.gpipe-sgd-split2_1-steps1.fp64.host-threads");
  made.add("loss", {1}, {1.0}).spec.phase = Phase::loss;
  made.give(0, "loss", box({0}, {1}), "dp,tp,pp");

  EXPECT_THAT(coverage_of(made).findings.at(0).text, HasSubstr("no piece from rank 1 (pp1)"));
}

// The bucket between the tied weights is 588 elements: replica 0's half ends in q k v, 294 - 200 =
// 94 elements beyond k.bias: v.weight and v.bias are 200 to 271, so out.weight's [8, 8] at 272 is
// cut after 22 elements.
class ShardCase {
 public:
  ShardCase() : made("gpt-micro.dp2.zero1-sgd-steps1.fp64.host-threads") {
    add_grad(made, "layer0.attn.out.weight", {8, 8}, 64);
  }
  CheckResult coverage(std::int64_t end_of_first, std::int64_t begin_of_second) {
    const Box whole_box{{0, 0}, {8, 8}};
    made.give(0, "layer0.attn.out.weight", FlatPlacement{whole_box, 0, end_of_first}, "tp");
    made.give(1, "layer0.attn.out.weight", FlatPlacement{whole_box, begin_of_second, 64}, "tp");
    return coverage_of(made);
  }
  MadeCase made;
};

TEST(ShardOwners, CoverAParameterThatABucketsMiddleCuts) {
  EXPECT_EQ(ShardCase().coverage(22, 22).verdict, Verdict::conforms);
}

TEST(ShardOwners, ThatAreBothShiftedByOneAreFound) {
  const CheckResult result = ShardCase().coverage(23, 23);

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_THAT(
      result.findings[0].text,
      HasSubstr("holds 23 elements from [0, 0], where 22 elements from [0, 0] are its own"));
}

TEST(ShardOwners, WithAHoleAtABucketsBorderAreFound) {
  const CheckResult result = ShardCase().coverage(22, 23);

  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].index, (std::vector<std::int64_t>{2, 6}));
  EXPECT_THAT(result.findings[0].text, HasSubstr("hole of 1 elements from [2, 6]"));
}

// up.weight, 360 to 455, is all of replica 1's: replica 0 may write an empty piece or none.
TEST(ShardOwners, WithoutAnElementNeedNoPiece) {
  for (const bool empty_piece : {false, true}) {
    MadeCase made("gpt-micro.dp2.zero1-sgd-steps1.fp64.host-threads");
    add_grad(made, "layer0.mlp.up.weight", {8, 12}, 96);
    const Box whole_box{{0, 0}, {8, 12}};
    made.give(1, "layer0.mlp.up.weight", FlatPlacement{whole_box, 0, 96}, "tp");
    if (empty_piece) {
      made.give(0, "layer0.mlp.up.weight", FlatPlacement{whole_box, 0, 0}, "tp");
    }
    EXPECT_EQ(coverage_of(made).verdict, Verdict::conforms);
  }
}

// Two stages, a copy each: 13 x 8 numbers, one of them another in the head's.
TEST(ShardOwners, OfATiedWeightHoldEqualCopies) {
  for (const double other : {0.0, 1e-16}) {
    MadeCase made("gpt-micro.pp2.gpipe-sgd-split2_1-steps1.fp64.host-threads");
    for (const char* name : {"embed.weight", "head.weight"}) {
      made.add(name, {13, 8}, std::vector<double>(104, 0.5)).spec.phase = Phase::param;
    }
    made.give(0, "embed.weight", box({0, 0}, {13, 8}), "dp,tp");
    std::vector<double> head(104, 0.5);
    head[9] -= other;
    made.give(1, "head.weight", box({0, 0}, {13, 8}), "dp,tp").values = head;
    Evidence evidence = made.write();
    evidence.model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
    const CheckResult replicas = result_of(judge(evidence), "replicas");

    ASSERT_EQ(replicas.findings.size(), other == 0 ? 0u : 1u);
    if (other != 0) {
      EXPECT_EQ(replicas.findings[0].rank, 1);
      EXPECT_EQ(replicas.findings[0].index, (std::vector<std::int64_t>{1, 1}));
      EXPECT_THAT(replicas.findings[0].text, HasSubstr("embed.weight holds 0.5 at [1, 1]"));
    }
  }
}

TEST(ShardOwners, DoNotLetPaddingLeak) {
  for (const double leak : {0.0, 1e-30}) {
    ShardCase shard;
    shard.made.add_local = [&](int rank, DumpWriter& writer) {
      const std::vector<std::int64_t> shape = {3};
      writer.write_local("pad/step0/grad/bucket1", shape,
                         std::vector<double>{0, 0, rank == 1 ? leak : 0});
    };
    const CheckResult result = shard.coverage(22, 22);

    ASSERT_EQ(result.findings.size(), leak == 0 ? 0u : 1u);
    if (leak != 0) {
      EXPECT_EQ(result.findings[0].rank, 1);
      EXPECT_THAT(result.findings[0].text, HasSubstr("holds 1e-30 at element 2, not 0"));
    }
  }
}

}  // namespace
}  // namespace meshparity
