#include "parallel_impl/pipeline/action.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "parallel_impl/pipeline/action_lists.hpp"

namespace meshparity {
namespace {

ModelSpec six_blocks() {
  ModelSpec model;
  model.layers = 6;
  return model;
}

CaseSpec spec_of(const std::string& mesh, const std::string& features) {
  return parse_case("mixed-tiny." + mesh + "." + features + ".fp64.host-threads");
}

/// "F0 F1 B0": of a stage with several chunks "F0.2", chunk behind the point.
std::string text_of(const ActionList& list, bool with_chunks = false) {
  std::string text;
  for (const Action& action : list) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", action_name(action.kind), action.mb);
    text += with_chunks ? fmt::format(".{}", action.chunk) : "";
  }
  return text;
}

std::string work(const CaseSpec& spec, int stage, bool with_chunks = false) {
  return text_of(work_of(spec, Stages(spec, six_blocks()), stage), with_chunks);
}

TEST(Stages, EvenPiecesTheFirstChunksHaveOneMore) {
  const Stages stages(spec_of("pp3", "1f1b-mb4"), six_blocks());

  EXPECT_EQ(stages.pieces_of(0), (PieceRange{0, 3}));
  EXPECT_EQ(stages.pieces_of(1), (PieceRange{3, 3}));
  EXPECT_EQ(stages.pieces_of(2), (PieceRange{6, 2}));
}

TEST(Stages, ChunksGoRoundOrUpAndDown) {
  const Stages round(spec_of("pp2", "int3-mb4"), six_blocks());
  const Stages bent(spec_of("pp4", "zbv-mb8"), six_blocks());

  EXPECT_EQ(round.chunks_of(0), (std::vector<int>{0, 2, 4}));
  EXPECT_EQ(bent.chunks_of(0), (std::vector<int>{0, 7}));
  EXPECT_EQ(bent.chunks_of(3), (std::vector<int>{3, 4}));
}

TEST(Stages, ASplitIsDividedOverTheChunksOfAStage) {
  const Stages stages(spec_of("pp2", "int2-mb4-split3_5"), six_blocks());

  EXPECT_EQ(stages.pieces_of(0), (PieceRange{0, 2}));
  EXPECT_EQ(stages.pieces_of(1), (PieceRange{2, 3}));
  EXPECT_EQ(stages.pieces_of(2), (PieceRange{5, 1}));
  EXPECT_EQ(stages.pieces_of(3), (PieceRange{6, 2}));
}

TEST(Work, OfEachScheduleWithoutChunks) {
  EXPECT_EQ(work(spec_of("single", "mb2"), 0), "F0 B0 F1 B1");
  EXPECT_EQ(work(spec_of("pp2", "naive-mb2"), 1), "F0 B0 F1 B1");
  EXPECT_EQ(work(spec_of("pp2", "gpipe-mb3"), 1), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(work(spec_of("pp4", "1f1b-mb4"), 1), "F0 F1 F2 B0 F3 B1 B2 B3");
  EXPECT_EQ(work(spec_of("pp4", "1f1b-mb2"), 0), "F0 F1 B0 B1");
  EXPECT_EQ(work(spec_of("pp2", "zbh1-mb3"), 0), "F0 F1 B0 W0 F2 B1 W1 B2 W2");
  EXPECT_EQ(work(spec_of("pp2", "zbh1-mb3"), 1), "F0 B0 F1 B1 W0 F2 B2 W1 W2");
  EXPECT_EQ(work(spec_of("pp2", "zbh2-mb3"), 0), "F0 F1 F2 B0 W0 B1 W1 B2 W2");
  EXPECT_EQ(work(spec_of("pp2", "zbh2-mb3"), 1), "F0 B0 F1 B1 F2 B2 W0 W1 W2");
}

TEST(Work, OfInterleavedChunks) {
  EXPECT_EQ(work(spec_of("pp2", "int2-mb2"), 0, true), "F0.0 F1.0 F0.2 F1.2 B0.2 B1.2 B0.0 B1.0");
  EXPECT_EQ(work(spec_of("pp2", "int2-mb2"), 1, true), "F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 B0.1 B1.1");
}

TEST(Work, OfTheV) {
  EXPECT_EQ(work(spec_of("pp2", "zbv-mb3"), 0, true),
            "F0.0 F1.0 F2.0 F0.3 B0.3 W0.3 F1.3 B1.3 W1.3 B0.0 W0.0 F2.3 B2.3 W2.3 B1.0 W1.0 B2.0 "
            "W2.0");
}

TEST(ActionLists, MessagesStandWhereTheirActionEnds) {
  const CaseSpec spec = spec_of("pp2", "1f1b-mb2");
  const std::vector<ActionList> lists = action_lists(spec, Stages(spec, six_blocks()));

  EXPECT_EQ(text_of(lists[0]), "F0 send_F0 F1 send_F1 recv_B0 B0 recv_B1 B1");
  EXPECT_EQ(text_of(lists[1]), "recv_F0 F0 recv_F1 B0 send_B0 F1 B1 send_B1");
}

TEST(ActionLists, ChunksOfOneStageSendEachOtherNothing) {
  const CaseSpec spec = spec_of("pp2", "zbv-mb3");
  const std::vector<ActionList> lists = action_lists(spec, Stages(spec, six_blocks()));

  for (const Action& action : lists[1]) {
    EXPECT_FALSE(action.kind == ActionKind::send_forward && action.chunk == 1);
    EXPECT_FALSE(action.kind == ActionKind::receive_backward && action.chunk == 1);
  }
}

}  // namespace
}  // namespace meshparity
