#include "matrix/expect/record_parts.hpp"

#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "matrix/placement_runs.hpp"

namespace meshparity::expect {
namespace {

using Elements = Run;  // inside a test, Run is the test's own
using Runs = std::vector<Elements>;

/// 12 samples of 5 tokens; 4 query heads of 2, hidden 8, ffn 12, vocabulary 13 padded to 16.
ModelSpec model_with(int kv_heads) {
  ModelSpec model;
  model.hidden = 8;
  model.ffn = 12;
  model.heads = 4;
  model.kv_heads = kv_heads;
  model.head_dim = 2;
  model.vocabulary = 13;
  model.padded_vocabulary = 16;
  model.sequence = 5;
  model.global_batch = 12;
  return model;
}

CaseSpec spec_of(int dp, int tp, int mb, bool sp = false) {
  CaseSpec spec;
  spec.mesh = MeshShape({dp, tp, 1, 1, 1, 1});
  spec.micro_batches = mb;
  spec.sequence_parallel = sp;
  return spec;
}

Runs runs(const CaseSpec& spec, const RecordSpec& record, int rank, int mb, int kv_heads = 4) {
  const ModelSpec model = model_with(kv_heads);
  return placement_runs(part_of(record, {spec, model}, rank, mb), record.shape);
}

RecordSpec record(std::string name, std::vector<std::int64_t> shape) {
  return {std::move(name), Phase::forward, std::move(shape)};
}

// dp 2 x mb 3: two samples each; replica 1, micro-batch 2 has the last two of twelve.
TEST(ExpectedPiece, HoldsTheSamplesOfItsReplicaAndMicroBatch) {
  const CaseSpec spec = spec_of(2, 1, 3);
  const auto ids = record("sample_ids", {12});
  const auto stream = record("layer0.in", {12, 5, 8});

  EXPECT_EQ(runs(spec, ids, 1, 2), (Runs{{10, 2}}));
  EXPECT_EQ(runs(spec, ids, 0, 1), (Runs{{2, 2}}));
  EXPECT_EQ(runs(spec, stream, 1, 2), (Runs{{10 * 40, 80}}));
}

// One sample of 5 rows on 2 ranks: 3 and 2.
TEST(ExpectedPiece, HoldsItsShareOfTheRowsUnderSequenceParallelism) {
  const CaseSpec spec = spec_of(1, 2, 12, true);
  const auto stream = record("layer0.in", {12, 5, 8});
  const auto loss = record("loss.token", {12, 5});

  EXPECT_EQ(runs(spec, stream, 0, 1), (Runs{{40, 24}}));
  EXPECT_EQ(runs(spec, stream, 1, 1), (Runs{{40 + 24, 16}}));
  EXPECT_EQ(runs(spec, loss, 1, 1), (Runs{{5, 5}}));
}

TEST(ExpectedPiece, HoldsItsHeadsFeaturesAndColumns) {
  const CaseSpec spec = spec_of(1, 4, 12);  // a sample a micro-batch

  const auto probs = runs(spec, record("layer0.attn.probs", {12, 4, 5, 5}), 2, 0);
  EXPECT_EQ(probs, (Runs{{50, 25}}));
  const auto up = runs(spec, record("layer0.mlp.up", {12, 5, 12}), 3, 0);
  ASSERT_EQ(up.size(), 5u);
  EXPECT_EQ(up[1], (Elements{12 + 9, 3}));
  const auto logits = runs(spec, record("logits", {12, 5, 13}), 3, 0);  // 12 of 16, so one of 13
  ASSERT_EQ(logits.size(), 5u);
  EXPECT_EQ(logits[0], (Elements{12, 1}));
}

// Two key heads on four ranks: ranks 2 and 3 hold the second; of five rows the first dumps three.
TEST(ExpectedPiece, OfASharedKeyHeadIsAShareOfItsRows) {
  const CaseSpec spec = spec_of(1, 4, 12);
  const auto keys = record("layer1.attn.k", {12, 5, 2, 2});

  EXPECT_EQ(runs(spec, keys, 2, 0, 2), (Runs{{2, 2}, {6, 2}, {10, 2}}));
  EXPECT_EQ(runs(spec, keys, 3, 0, 2), (Runs{{14, 2}, {18, 2}}));
}

TEST(ExpectedPiece, RefusesARecordWithoutAFormula) {
  EXPECT_THROW(runs(spec_of(1, 1, 1), record("layer0.router", {12, 5, 8}), 0, 0), Error);
}

}  // namespace
}  // namespace meshparity::expect
