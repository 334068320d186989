// Orders written out by hand from algorithms.md §3 for pipelines of two to four stages.
#include "matrix/expect/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "matrix/expect/pipeline_cases.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

std::string order(const CaseSpec& spec, int stage) {
  return list_text(work_of_stage(spec, stage), chunks_per_stage(spec) > 1);
}

TEST(Schedule, OfOneStageIsOneMicroBatchAfterTheOther) {
  EXPECT_EQ(order(pipeline_case(1, Schedule::none, 2), 0), "F0 B0 F1 B1 reduce step");
}

TEST(Schedule, OfNaiveGpipeAnd1f1b) {
  EXPECT_EQ(order(pipeline_case(3, Schedule::naive, 2), 1), "F0 B0 F1 B1 reduce step");
  EXPECT_EQ(order(pipeline_case(2, Schedule::gpipe, 3), 1), "F0 F1 F2 B0 B1 B2 reduce step");
  const CaseSpec spec = pipeline_case(3, Schedule::one_f_one_b, 4);
  EXPECT_EQ(order(spec, 0), "F0 F1 F2 B0 F3 B1 B2 B3 reduce step");
  EXPECT_EQ(order(spec, 1), "F0 F1 B0 F2 B1 F3 B2 B3 reduce step");
  EXPECT_EQ(order(spec, 2), "F0 B0 F1 B1 F2 B2 F3 B3 reduce step");
}

TEST(Schedule, Of1f1bWithFewerMicroBatchesThanStagesIsGpipeAtTheFront) {
  EXPECT_EQ(order(pipeline_case(4, Schedule::one_f_one_b, 2), 0), "F0 F1 B0 B1 reduce step");
}

// p 2, v 2, m 2: table (0,0) (1,0) (0,1) (1,1); rank 0 has 2 (2-1) + 2 = 4 ahead, rank 1 has 2.
TEST(Schedule, OfInterleavedFollowsTheTableOfGroups) {
  const CaseSpec spec = pipeline_case(2, Schedule::interleaved, 2, 2);

  EXPECT_EQ(order(spec, 0), "F0.0 F1.0 F0.2 F1.2 B0.2 B1.2 B0.0 B1.0 reduce step");
  EXPECT_EQ(order(spec, 1), "F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 B0.1 B1.1 reduce step");
}

// p 2, m 3. H1: rank 0 is one round late with B and W alike, rank 1 with W only. H2: twice that.
TEST(Schedule, OfZeroBubblePutsWeightsOff) {
  const CaseSpec h1 = pipeline_case(2, Schedule::zbh1, 3);
  const CaseSpec h2 = pipeline_case(2, Schedule::zbh2, 3);

  EXPECT_EQ(order(h1, 0), "F0 F1 B0 W0 F2 B1 W1 B2 W2 reduce step");
  EXPECT_EQ(order(h1, 1), "F0 B0 F1 B1 W0 F2 B2 W1 W2 reduce step");
  EXPECT_EQ(order(h2, 0), "F0 F1 F2 B0 W0 B1 W1 B2 W2 reduce step");
  EXPECT_EQ(order(h2, 1), "F0 B0 F1 B1 F2 B2 W0 W1 W2 reduce step");
}

// p 2, m 3. Stage 0, chunks 0 and 3: 3 x F0; 2 x (F1, B1, W1); one round, without an F0 as all
// three are begun; 2 x (B0, W0). Stage 1, chunks 1 and 2: F0; (F1, F0); (F1, B1, W1); one round;
// (B0, B1); (B0, W0); then the W that stayed behind, those of the second chunk first.
TEST(Schedule, OfZbvGoesDownAndComesBack) {
  const CaseSpec spec = pipeline_case(2, Schedule::zbv, 3);

  EXPECT_EQ(order(spec, 0),
            "F0.0 F1.0 F2.0 F0.3 B0.3 W0.3 F1.3 B1.3 W1.3 B0.0 W0.0 F2.3 B2.3 W2.3 B1.0 W1.0 "
            "B2.0 W2.0 reduce step");
  EXPECT_EQ(order(spec, 1),
            "F0.1 F0.2 F1.1 F1.2 B0.2 W0.2 F2.1 B0.1 W0.1 F2.2 B1.2 W1.2 B1.1 B2.2 B2.1 W1.1 "
            "W2.2 W2.1 reduce step");
}

// Two batches of 4 on 2 stages: a list of 8 micro-batches. Stage 0 is one update late, stage 1
// never; with vertical sync both use what stage 0 uses. With 2bw a batch uses the weights that the
// batch before the last one made.
TEST(Schedule, OfStreamsSaysWhichWeightsAreUsed) {
  const auto versions = [](Schedule schedule, int stage, ActionKind kind, int batches) {
    CaseSpec spec = pipeline_case(2, schedule, 4);
    spec.steps = batches;
    std::string text;
    for (const Action& action : work_of_stage(spec, stage)) {
      text += action.kind == kind ? std::to_string(action.version) : "";
    }
    return text;
  };

  for (const ActionKind kind : {ActionKind::forward, ActionKind::backward}) {
    EXPECT_EQ(versions(Schedule::pipedream, 0, kind, 2), "00123456");
    EXPECT_EQ(versions(Schedule::pipedream, 1, kind, 2), "01234567");
    EXPECT_EQ(versions(Schedule::pipedream_vsync, 0, kind, 2), "00123456");
    EXPECT_EQ(versions(Schedule::pipedream_vsync, 1, kind, 2), "00123456");
    EXPECT_EQ(versions(Schedule::pipedream_2bw, 0, kind, 3), "000000001111");
    EXPECT_EQ(versions(Schedule::one_f_one_b, 0, kind, 1), "0000");
  }
}

TEST(Schedule, OfStreamsUpdatesInFlight) {
  CaseSpec spec = pipeline_case(2, Schedule::pipedream, 2);
  spec.steps = 2;
  CaseSpec coalesced = spec;
  coalesced.schedule = Schedule::pipedream_2bw;

  EXPECT_EQ(order(spec, 0),
            "F0 F1 B0 reduce step F2 B1 reduce step F3 B2 reduce step B3 reduce step");
  EXPECT_EQ(order(coalesced, 1), "F0 B0 F1 B1 reduce step F2 B2 F3 B3 reduce step");
}

TEST(Schedule, WordsAreThoseOfTheLedger) {
  for (const char* word :
       {"F", "B", "W", "send_F", "send_B", "recv_F", "recv_B", "reduce", "step"}) {
    ASSERT_TRUE(action_named(word).has_value()) << word;
    EXPECT_EQ(action_word(*action_named(word)), word);
  }
  EXPECT_FALSE(action_named("save").has_value());
  EXPECT_EQ(action_text({ActionKind::send_forward, 2, 3}), "send_F of chunk 2 mb 3");
  EXPECT_EQ(action_text({ActionKind::step}), "step");
}

}  // namespace
}  // namespace meshparity::expect
