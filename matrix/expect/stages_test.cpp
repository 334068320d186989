#include "matrix/expect/stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"

namespace meshparity::expect {
namespace {

using testing::ElementsAre;

ModelSpec blocks(int layers) {
  ModelSpec model;
  model.layers = layers;
  return model;
}

CaseSpec staged(int p, Schedule schedule, int v = 0, std::vector<int> split = {}) {
  CaseSpec spec;
  spec.mesh = MeshShape({1, 1, p, 1, 1, 1});
  spec.schedule = schedule;
  spec.virtual_chunks = v;
  spec.split = std::move(split);
  return spec;
}

std::vector<int> sizes(const CaseSpec& spec, int layers) {
  const ModelSpec model = blocks(layers);
  std::vector<int> counts;
  for (int chunk = 0; chunk < chunk_count(spec); ++chunk) {
    counts.push_back(pieces_of_chunk({spec, model}, chunk).count);
  }
  return counts;
}

TEST(Stages, NamePiecesFromTheEmbeddingToTheHead) {
  const ModelSpec model = blocks(12);

  EXPECT_EQ(piece_count(model), 14);
  EXPECT_EQ(piece_named("embed.weight", model), 0);
  EXPECT_EQ(piece_named("layer0.norm1.weight", model), 1);
  EXPECT_EQ(piece_named("layer11.mlp.down.bias", model), 12);
  EXPECT_EQ(piece_named("final_norm.weight", model), 13);
  EXPECT_EQ(piece_named("head.weight", model), 13);
  EXPECT_EQ(piece_named("logits", model), 13);
}

TEST(Stages, GoRoundAndWithZbvComeBack) {
  const CaseSpec looping = staged(3, Schedule::interleaved, 2);
  const CaseSpec turning = staged(3, Schedule::zbv);

  EXPECT_EQ(chunk_count(looping), 6);
  EXPECT_THAT(chunks_of_stage(looping, 1), ElementsAre(1, 4));
  EXPECT_EQ(chunk_count(turning), 6);
  EXPECT_THAT(chunks_of_stage(turning, 0), ElementsAre(0, 5));
  EXPECT_THAT(chunks_of_stage(turning, 2), ElementsAre(2, 3));
  EXPECT_EQ(stage_of_chunk(turning, 4), 1);
}

// 8 pieces over 3 chunks: 3 3 2; over 4: 2 each; 4 pieces over 3: 2 1 1.
TEST(Stages, DivideEvenlyTheFirstChunksHoldingMore) {
  EXPECT_THAT(sizes(staged(3, Schedule::gpipe), 6), ElementsAre(3, 3, 2));
  EXPECT_THAT(sizes(staged(2, Schedule::interleaved, 2), 6), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(sizes(staged(3, Schedule::one_f_one_b), 2), ElementsAre(2, 1, 1));
  EXPECT_THAT(sizes(CaseSpec(), 2), ElementsAre(4));
}

// split5_3: stage 0 has chunks 0 and 2 (3 and 2 pieces), stage 1 chunks 1 and 3 (2 and 1). With
// zbv stage 0 has chunks 0 and 3.
TEST(Stages, DivideAStagesPiecesOverItsChunks) {
  const ModelSpec model = blocks(6);
  const CaseSpec looping = staged(2, Schedule::interleaved, 2, {5, 3});
  const CaseSpec turning = staged(2, Schedule::zbv, 0, {5, 3});

  EXPECT_THAT(sizes(looping, 6), ElementsAre(3, 2, 2, 1));
  EXPECT_THAT(sizes(turning, 6), ElementsAre(3, 2, 1, 2));
  EXPECT_THAT(sizes(staged(2, Schedule::gpipe, 0, {1, 7}), 6), ElementsAre(1, 7));
  EXPECT_THAT(pieces_of_stage({looping, model}, 0), ElementsAre(0, 1, 2, 5, 6));
  EXPECT_THAT(pieces_of_stage({turning, model}, 0), ElementsAre(0, 1, 2, 6, 7));
  EXPECT_EQ(pieces_of_chunk({turning, model}, 1), (Pieces{3, 2}));
}

TEST(Stages, FindTheChunkAndTheStageOfEveryPiece) {
  const ModelSpec model = blocks(6);
  const CaseSpec spec = staged(2, Schedule::zbv, 0, {5, 3});
  const Layout layout{spec, model};

  std::vector<int> chunks, stages;
  for (int piece = 0; piece < piece_count(model); ++piece) {
    chunks.push_back(chunk_of_piece(layout, piece));
    stages.push_back(stage_of_piece(layout, piece));
  }

  EXPECT_THAT(chunks, ElementsAre(0, 0, 0, 1, 1, 2, 3, 3));
  EXPECT_THAT(stages, ElementsAre(0, 0, 0, 1, 1, 1, 0, 0));
  EXPECT_THROW(chunk_of_piece(layout, 8), Error);
}

// tp fastest, pp slowest: ranks 0 to 3 are stage 0. With pp fastest they alternate.
TEST(Stages, FollowTheOrderOfRanks) {
  const ModelSpec model = blocks(2);
  CaseSpec spec = staged(2, Schedule::gpipe);
  spec.mesh = MeshShape({2, 2, 2, 1, 1, 1});
  CaseSpec turned = spec;
  turned.order = {Axis::pp, Axis::tp, Axis::cp, Axis::ep, Axis::dp};

  EXPECT_EQ(stage_of(spec, 3), 0);
  EXPECT_EQ(stage_of(spec, 4), 1);
  EXPECT_EQ(stage_of(turned, 3), 1);
  EXPECT_TRUE(holds_piece({spec, model}, 3, 1));
  EXPECT_FALSE(holds_piece({spec, model}, 3, 2));
}

}  // namespace
}  // namespace meshparity::expect
