// Small pipelines played by hand.
#include "matrix/expect/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "matrix/expect/pipeline_cases.hpp"
#include "matrix/expect/schedule_figures.hpp"

namespace meshparity::expect {
namespace {

using testing::ElementsAre;

/// "0-1 1-2": start and end of a stage's work.
std::string times_of(const std::vector<TimedAction>& actions) {
  std::string text;
  for (const TimedAction& each : actions) {
    if (is_work(each.action.kind)) {
      text += fmt::format("{}{}-{}", text.empty() ? "" : " ", each.start, each.end);
    }
  }
  return text;
}

// F 1, B 2. Stage 1 begins when F0 ends; stage 0 gets B0's gradient at 4 and B1's at 7.
TEST(Simulate, RunsOneFOneBOnTheLogicalClock) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 2);

  const Played played = play_work(spec, work_of_stages(spec), logical_durations(spec));

  EXPECT_FALSE(played.stuck.has_value());
  EXPECT_EQ(times_of(played.stages[0]), "0-1 1-2 4-6 7-9");
  EXPECT_EQ(times_of(played.stages[1]), "1-2 2-4 4-5 5-7");
  EXPECT_EQ(makespan_of(played), 9);
}

// Stage 0: F 2, B 3; stage 1: F 1, B 5; a message takes 1. The lists are ordered by the logical
// clock, in which micro-batch 1's activation is there when B0 begins: here B0 waits for it,
// until 5.
TEST(Simulate, TakesUnequalStagesAndMessagesThatTakeTime) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 2);
  const Durations durations{{{2, 3, 0}, {1, 5, 0}}, 1};

  const Played work = play_work(spec, work_of_stages(spec), durations);
  const Played lists = play(spec, actions_due(spec), durations, Transport::buffered);

  EXPECT_EQ(times_of(work.stages[0]), "0-2 2-4 10-13 16-19");
  EXPECT_EQ(times_of(work.stages[1]), "3-4 4-9 9-10 10-15");
  EXPECT_EQ(span_of(work.stages[1]), 12);
  EXPECT_EQ(times_of(lists.stages[0]), "0-2 2-4 11-14 17-20");
  EXPECT_EQ(times_of(lists.stages[1]), "3-4 5-10 10-11 11-16");
}

// F 1, B 2, W 1. Stage 0 is done with W0 while stage 1 still computes what B1 waits for.
TEST(Simulate, RunsSplitBackwardsOfUnequalTimes) {
  const CaseSpec spec = pipeline_case(2, Schedule::zbh1, 2);

  const Played played = play_work(spec, work_of_stages(spec), equal_durations(spec, {1, 2, 1}));

  EXPECT_EQ(times_of(played.stages[0]), "0-1 1-2 4-6 6-7 7-9 9-10");
  EXPECT_EQ(times_of(played.stages[1]), "1-2 2-4 4-5 5-7 7-8 8-9");
  EXPECT_EQ(bubble_of(spec, played).time(), 2);
}

// A message stands behind work begun by then and before what begins at that moment: micro-batch
// 1's activation arrives at 2, when stage 1 begins B0.
TEST(Simulate, PutsMessagesWhereTheirWorkEnds) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 2);

  const std::vector<ActionList> lists = actions_due(spec);

  EXPECT_EQ(list_text(lists[0]), "F0 send_F0 F1 send_F1 recv_B0 B0 recv_B1 B1 reduce step");
  EXPECT_EQ(list_text(lists[1]), "recv_F0 F0 recv_F1 B0 send_B0 F1 B1 send_B1 reduce step");
}

// zbv, p 2: chunk 1 hands its activation to chunk 2 on the same stage.
TEST(Simulate, SendsNothingBetweenChunksOfOneStage) {
  const CaseSpec spec = pipeline_case(2, Schedule::zbv, 3);

  EXPECT_EQ(message_of(spec, {ActionKind::forward, 1, 0}), std::nullopt);
  EXPECT_EQ(message_of(spec, {ActionKind::backward, 2, 0}), std::nullopt);
  EXPECT_EQ(message_of(spec, {ActionKind::forward, 3, 0}), std::nullopt);
  EXPECT_EQ(message_of(spec, {ActionKind::weights, 1, 0}), std::nullopt);
  EXPECT_EQ(message_of(spec, {ActionKind::forward, 2, 4}),
            (Action{ActionKind::send_forward, 2, 4}));
  EXPECT_EQ(peer_of(spec, {ActionKind::send_forward, 2, 4}).stage, 0);
  EXPECT_EQ(peer_of(spec, {ActionKind::send_forward, 2, 4}).action,
            (Action{ActionKind::receive_forward, 3, 4}));
  EXPECT_THAT(needs_of(spec, {ActionKind::forward, 2, 0}),
              ElementsAre(Action{ActionKind::forward, 1, 0}));
  EXPECT_THAT(
      needs_of(spec, {ActionKind::backward, 2, 0}),
      ElementsAre(Action{ActionKind::forward, 2, 0}, Action{ActionKind::receive_backward, 2, 0}));
}

/// 1F1B of two stages and micro-batches in which each side sends before it receives.
std::vector<ActionList> both_send_first() {
  using enum ActionKind;
  return {{{forward, 0, 0},
           {send_forward, 0, 0},
           {forward, 0, 1},
           {send_forward, 0, 1},
           {receive_backward, 0, 0},
           {backward, 0, 0},
           {receive_backward, 0, 1},
           {backward, 0, 1}},
          {{receive_forward, 1, 0},
           {forward, 1, 0},
           {backward, 1, 0},
           {send_backward, 1, 0},
           {receive_forward, 1, 1},
           {forward, 1, 1},
           {backward, 1, 1},
           {send_backward, 1, 1}}};
}

TEST(Simulate, NamesTheCycleOfADeadlockUnderRendezvous) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 2);
  const std::vector<ActionList> lists = both_send_first();

  const Played met = play(spec, lists, logical_durations(spec), Transport::rendezvous);
  const Played buffered = play(spec, lists, logical_durations(spec), Transport::buffered);

  ASSERT_TRUE(met.stuck.has_value());
  EXPECT_TRUE(met.stuck->is_cycle);
  EXPECT_EQ(stuck_text(*met.stuck),
            "stage 0 waits at send_F of chunk 0 mb 1 for stage 1, stage 1 waits at send_B of chunk "
            "1 mb 0 for stage 0");
  EXPECT_EQ(met.stuck->chain.at(1).position, 3u);
  EXPECT_FALSE(buffered.stuck.has_value());
}

TEST(Simulate, SaysForWhomAStageWaitsThatHasEnded) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 2);
  std::vector<ActionList> lists = actions_due(spec);
  std::erase_if(lists[1], [](const Action& each) {
    return each.kind == ActionKind::send_backward && each.mb == 1;
  });

  const Played played = play(spec, lists, logical_durations(spec), Transport::buffered);

  ASSERT_TRUE(played.stuck.has_value());
  EXPECT_EQ(stuck_text(*played.stuck),
            "stage 0 waits at recv_B of chunk 0 mb 1 for stage 1, which has ended");
}

TEST(Simulate, RefusesToOrderWorkThatWaitsForEachOther) {
  const CaseSpec spec = pipeline_case(2, Schedule::one_f_one_b, 1);
  std::vector<ActionList> work = work_of_stages(spec);
  std::swap(work[1][0], work[1][1]);

  EXPECT_TRUE(play_work(spec, work, logical_durations(spec)).stuck.has_value());
  EXPECT_THROW(with_messages(spec, work), Error);
}

}  // namespace
}  // namespace meshparity::expect
