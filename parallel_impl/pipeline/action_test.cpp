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

/// "F0 F1 B0": of a stage with several chunks "F0.2", chunk behind the point; "|" where gradients
/// are reduced and the update follows.
std::string text_of(const ActionList& list, bool with_chunks = false) {
  std::string text;
  for (const Action& action : list) {
    const char* const between = text.empty() ? "" : " ";
    if (action.kind == ActionKind::reduce) {
      text += fmt::format("{}|", between);
    } else if (action.kind != ActionKind::step) {
      text += fmt::format("{}{}{}", between, action_name(action.kind), action.mb);
      text += with_chunks ? fmt::format(".{}", action.chunk) : "";
    }
  }
  return text;
}

std::string work(const CaseSpec& spec, int stage, bool with_chunks = false) {
  return text_of(work_of(spec, Stages(spec, six_blocks()), stage), with_chunks);
}

/// Versions that a stage's passes of one kind use, micro-batch by micro-batch.
std::string versions(const CaseSpec& spec, int stage, ActionKind kind) {
  std::string text;
  for (const Action& action : work_of(spec, Stages(spec, six_blocks()), stage)) {
    text += action.kind == kind ? fmt::to_string(action.version) : "";
  }
  return text;
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
  EXPECT_EQ(work(spec_of("single", "mb2"), 0), "F0 B0 F1 B1 |");
  EXPECT_EQ(work(spec_of("pp2", "naive-mb2"), 1), "F0 B0 F1 B1 |");
  EXPECT_EQ(work(spec_of("pp2", "gpipe-mb3"), 1), "F0 F1 F2 B0 B1 B2 |");
  EXPECT_EQ(work(spec_of("pp4", "1f1b-mb4"), 1), "F0 F1 F2 B0 F3 B1 B2 B3 |");
  EXPECT_EQ(work(spec_of("pp4", "1f1b-mb2"), 0), "F0 F1 B0 B1 |");
  EXPECT_EQ(work(spec_of("pp2", "zbh1-mb3"), 0), "F0 F1 B0 W0 F2 B1 W1 B2 W2 |");
  EXPECT_EQ(work(spec_of("pp2", "zbh1-mb3"), 1), "F0 B0 F1 B1 W0 F2 B2 W1 W2 |");
  EXPECT_EQ(work(spec_of("pp2", "zbh2-mb3"), 0), "F0 F1 F2 B0 W0 B1 W1 B2 W2 |");
  EXPECT_EQ(work(spec_of("pp2", "zbh2-mb3"), 1), "F0 B0 F1 B1 F2 B2 W0 W1 W2 |");
}

TEST(Work, OfInterleavedChunks) {
  EXPECT_EQ(work(spec_of("pp2", "int2-mb2"), 0, true), "F0.0 F1.0 F0.2 F1.2 B0.2 B1.2 B0.0 B1.0 |");
  EXPECT_EQ(work(spec_of("pp2", "int2-mb2"), 1, true), "F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 B0.1 B1.1 |");
}

TEST(Work, OfTheV) {
  EXPECT_EQ(work(spec_of("pp2", "zbv-mb3"), 0, true),
            "F0.0 F1.0 F2.0 F0.3 B0.3 W0.3 F1.3 B1.3 W1.3 B0.0 W0.0 F2.3 B2.3 W2.3 B1.0 W1.0 B2.0 "
            "W2.0 |");
}

// Each stage updates behind every B, or with 2bw behind the last B of a batch of two.
TEST(Work, OfPipelinesThatAreNeverFlushedGoesThroughAllSteps) {
  const char* const first = "F0 F1 B0 | F2 B1 | F3 B2 | F4 B3 | F5 B4 | F6 B5 | F7 B6 | B7 |";
  const char* const last = "F0 B0 | F1 B1 | F2 B2 | F3 B3 | F4 B4 | F5 B5 | F6 B6 | F7 B7 |";

  EXPECT_EQ(work(spec_of("pp2", "pipedream-mb4-clip_off-steps2"), 0), first);
  EXPECT_EQ(work(spec_of("pp2", "pipedream-mb4-clip_off-steps2"), 1), last);
  EXPECT_EQ(work(spec_of("pp2", "pipedream_vsync-mb4-clip_off-steps2"), 0), first);
  EXPECT_EQ(work(spec_of("pp2", "pipedream_2bw-mb2-clip_off-steps2"), 0),
            "F0 F1 B0 F2 B1 | F3 B2 B3 |");
  EXPECT_EQ(work(spec_of("pp2", "pipedream_2bw-mb2-clip_off-steps2"), 1),
            "F0 B0 F1 B1 | F2 B2 F3 B3 |");
}

// By hand: a stage runs ahead of its updates by the stages behind it; vertical sync takes the first
// stage's for all; two-buffered weights are those of the batch before last.
TEST(Work, OfPipelinesThatAreNeverFlushedNamesTheVersionsOfTheirRule) {
  for (const ActionKind kind : {ActionKind::forward, ActionKind::backward}) {
    EXPECT_EQ(versions(spec_of("pp3", "pipedream-mb5-clip_off-steps1"), 0, kind), "00012");
    EXPECT_EQ(versions(spec_of("pp3", "pipedream-mb5-clip_off-steps1"), 1, kind), "00123");
    EXPECT_EQ(versions(spec_of("pp3", "pipedream-mb5-clip_off-steps1"), 2, kind), "01234");
    EXPECT_EQ(versions(spec_of("pp3", "pipedream_vsync-mb5-clip_off-steps1"), 2, kind), "00012");
    EXPECT_EQ(versions(spec_of("pp2", "pipedream_2bw-mb2-clip_off"), 1, kind), "000011");
    EXPECT_EQ(versions(spec_of("pp3", "1f1b-mb5"), 1, kind), "00000");
  }
}

// At one moment messages come first, the lower sender's before, then the update, then the next
// pass. B0 of the last stage ends at 4, B1 and F2 of the first at 7.
TEST(ActionLists, UpdatesStandBetweenAMessageAndTheNextPass) {
  const CaseSpec spec = spec_of("pp2", "pipedream-mb4-clip_off-steps1");
  const std::vector<ActionList> lists = action_lists(spec, Stages(spec, six_blocks()));

  EXPECT_EQ(text_of(lists[0]),
            "F0 send_F0 F1 send_F1 recv_B0 B0 | F2 send_F2 recv_B1 B1 | F3 send_F3 recv_B2 B2 | "
            "recv_B3 B3 |");
  EXPECT_EQ(text_of(lists[1]),
            "recv_F0 F0 recv_F1 B0 send_B0 | F1 B1 recv_F2 send_B1 | F2 B2 recv_F3 send_B2 | F3 B3 "
            "send_B3 |");
}

TEST(ActionLists, MessagesStandWhereTheirActionEnds) {
  const CaseSpec spec = spec_of("pp2", "1f1b-mb2");
  const std::vector<ActionList> lists = action_lists(spec, Stages(spec, six_blocks()));

  EXPECT_EQ(text_of(lists[0]), "F0 send_F0 F1 send_F1 recv_B0 B0 recv_B1 B1 |");
  EXPECT_EQ(text_of(lists[1]), "recv_F0 F0 recv_F1 B0 send_B0 F1 B1 send_B1 |");
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
