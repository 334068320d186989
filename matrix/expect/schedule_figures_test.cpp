// Closed formulas against the simulator in every legal case up to 16 stages and 64 micro-batches,
// and a few figures by hand.
#include "matrix/expect/schedule_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "fixtures/legality.hpp"
#include "matrix/expect/pipeline_cases.hpp"
#include "matrix/expect/schedule_memory.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

constexpr std::array kSchedules = {
    Schedule::naive,        Schedule::gpipe, Schedule::one_f_one_b, Schedule::zbh1,
    Schedule::zbh2,         Schedule::zbv,   Schedule::pipedream,   Schedule::pipedream_vsync,
    Schedule::pipedream_2bw};

void for_every_case(const std::function<void(const CaseSpec&)>& look) {
  for (int p = 1; p <= 16; ++p) {
    for (int m = 1; m <= 64; ++m) {
      for (const Schedule schedule : kSchedules) {
        const CaseSpec spec = pipeline_case(p, schedule, m);
        if ((p > 1 || schedule == Schedule::naive) && m >= least_micro_batches(spec)) {
          look(spec);
        }
      }
      for (int v = 1; p > 1 && m % p == 0 && v <= 4; ++v) {
        look(pipeline_case(p, Schedule::interleaved, m, v));
      }
    }
  }
}

std::string named(const CaseSpec& spec) {
  return fmt::format("schedule {} p {} m {} v {}", static_cast<int>(spec.schedule),
                     spec.mesh.degree(Axis::pp), spec.micro_batches, spec.virtual_chunks);
}

/// The logical clock, and of the smaller pipelines other times too.
std::vector<WorkTime> times_to_try(const CaseSpec& spec) {
  std::vector<WorkTime> times = {logical_durations(spec).stages.front()};
  if (spec.micro_batches <= 20) {
    times.insert(times.end(), {{3, 3, 3}, {1, 3, 2}, {3, 1, 2}});
  }
  return times;
}

TEST(ScheduleFigures, BubblesAreThoseOfTheSimulator) {
  int compared = 0;
  for_every_case([&](const CaseSpec& spec) {
    const std::vector<ActionList> work = work_of_stages(spec);
    for (const WorkTime& time : times_to_try(spec)) {
      const std::optional<Bubble> due = bubble_due(spec, time);
      if (due) {
        const Played played = play_work(spec, work, equal_durations(spec, time));
        ASSERT_FALSE(played.stuck.has_value()) << named(spec);
        ASSERT_EQ(bubble_of(spec, played), *due) << named(spec);
        ++compared;
      }
    }
  });
  EXPECT_GT(compared, 5000);
}

TEST(ScheduleFigures, ActivationsInFlightAreThoseOfTheLists) {
  for_every_case([](const CaseSpec& spec) {
    for (int stage = 0; stage < spec.mesh.degree(Axis::pp); ++stage) {
      ASSERT_EQ(in_flight_of(spec, work_of_stage(spec, stage)), in_flight_due(spec, stage))
          << named(spec) << " stage " << stage;
    }
  });
}

// Each action once, its needs before it, the same times with messages as without, and no deadlock
// even where every send waits for its receive.
TEST(ScheduleFigures, ListsWithMessagesAreSoundInEveryCase) {
  for_every_case([](const CaseSpec& spec) {
    if (spec.micro_batches > 32) {
      return;
    }
    const std::vector<ActionList> lists = actions_due(spec);
    const Durations durations = logical_durations(spec);
    const Played buffered = play(spec, lists, durations, Transport::buffered);
    ASSERT_FALSE(buffered.stuck.has_value()) << named(spec);
    ASSERT_FALSE(play(spec, lists, durations, Transport::rendezvous).stuck.has_value())
        << named(spec);
    ASSERT_EQ(bubble_of(spec, buffered), *bubble_due(spec, durations.stages.front()))
        << named(spec);
  });
}

TEST(ScheduleFigures, ListsHoldEveryActionOnceBehindWhatItNeeds) {
  for (const CaseSpec& spec :
       {pipeline_case(4, Schedule::zbv, 8), pipeline_case(3, Schedule::interleaved, 6, 3),
        pipeline_case(4, Schedule::zbh2, 7), pipeline_case(5, Schedule::one_f_one_b, 3)}) {
    for (const ActionList& list : actions_due(spec)) {
      for (auto action = list.begin(); action != list.end(); ++action) {
        EXPECT_EQ(std::count(list.begin(), list.end(), *action), 1) << action_text(*action);
        for (const Action& need : needs_of(spec, *action)) {
          EXPECT_NE(std::find(list.begin(), action, need), action)
              << named(spec) << ": " << action_text(*action);
        }
      }
    }
  }
}

// p 4, m 8: gpipe (p-1)/(m+p-1) = 3/11 of the whole, 3/8 of the ideal time; two chunks halve it:
// 3/19. ZB-H1 leaves a third (3 of 27); ZB-H2 and ZB-V none.
TEST(ScheduleFigures, ByHandForFourStagesAndEightMicroBatches) {
  const auto due = [](Schedule schedule, int v = 0) {
    const CaseSpec spec = pipeline_case(4, schedule, 8, v);
    return *bubble_due(spec, logical_durations(spec).stages.front());
  };

  EXPECT_DOUBLE_EQ(due(Schedule::naive).share_of_makespan(), 3.0 / 4);
  EXPECT_DOUBLE_EQ(due(Schedule::gpipe).share_of_makespan(), 3.0 / 11);
  EXPECT_DOUBLE_EQ(due(Schedule::gpipe).share_of_ideal(), 3.0 / 8);
  EXPECT_DOUBLE_EQ(due(Schedule::interleaved, 2).share_of_makespan(), 3.0 / 19);
  EXPECT_DOUBLE_EQ(due(Schedule::interleaved, 2).share_of_ideal(), 3.0 / 16);
  EXPECT_DOUBLE_EQ(due(Schedule::zbh1).share_of_makespan(), 3.0 / 27);
  EXPECT_EQ(due(Schedule::zbh2).time(), 0);
  EXPECT_EQ(due(Schedule::zbh2).makespan, 27);
  EXPECT_EQ(due(Schedule::zbv).time(), 0);
}

// ZB-H1 of 2 stages: F0 F1 B0 W0 F2 B1 ... on stage 0, F0 B0 F1 B1 W0 ... on stage 1. Level B 10
// bytes, level W 1, what is kept from B to W 100.
TEST(ScheduleFigures, PeaksOfSeveralHoldings) {
  const CaseSpec spec = pipeline_case(2, Schedule::zbh1, 3);
  const auto peaks = [&](int stage) {
    using enum ActionKind;
    const ActionList list = work_of_stage(spec, stage);
    return std::pair(
        peak_held(list, {{forward, backward, {10, 10}}}),
        peak_held(list, {{forward, weights, {1, 1}}, {backward, weights, {100, 100}}}));
  };

  EXPECT_EQ(peaks(0), std::pair(std::int64_t{20}, std::int64_t{102}));
  EXPECT_EQ(peaks(1), std::pair(std::int64_t{10}, std::int64_t{202}));
}

TEST(ScheduleFigures, SomethingIsLeftWhereAnActionIsMissing) {
  const CaseSpec spec = pipeline_case(2, Schedule::zbh1, 3);
  const std::vector<Holding> kept = {{ActionKind::forward, ActionKind::weights, {7, 7}}};
  ActionList list = work_of_stage(spec, 1);
  EXPECT_EQ(left_held(list, kept), 0);

  std::erase(list, Action{ActionKind::weights, 1, 2});

  EXPECT_EQ(left_held(list, kept), 7);
}

// What a case's id may ask for is what the orders are written for.
TEST(ScheduleFigures, TheFewestMicroBatchesAreThoseThatAreLegal) {
  ModelSpec model;
  model.layers = 30;
  model.hidden = model.heads = model.kv_heads = model.ffn = model.padded_vocabulary = 4;
  model.sequence = 4;
  model.tied_embeddings = false;
  for (const Schedule schedule :
       {Schedule::naive, Schedule::gpipe, Schedule::one_f_one_b, Schedule::interleaved,
        Schedule::zbh1, Schedule::zbh2, Schedule::zbv, Schedule::pipedream,
        Schedule::pipedream_vsync, Schedule::pipedream_2bw}) {
    for (int p = 2; p <= 8; ++p) {
      for (int m = 1; m <= 18; ++m) {
        CaseSpec spec = pipeline_case(p, schedule, m, schedule == Schedule::interleaved ? 2 : 0);
        spec.model = "gpt-tiny";
        spec.clip = ClipMode::off;
        model.global_batch = m;
        const bool in_groups = schedule != Schedule::interleaved || m % p == 0;
        EXPECT_EQ(!why_illegal(model, spec), m >= least_micro_batches(spec) && in_groups)
            << named(spec) << ": " << why_illegal(model, spec).value_or("legal");
      }
    }
  }
}

// Of lists that are long enough for all versions to be needed at a time.
TEST(ScheduleFigures, VersionsThatAreKeptAreThoseThatTheListReads) {
  for (const Schedule schedule : {Schedule::pipedream, Schedule::pipedream_vsync,
                                  Schedule::pipedream_2bw, Schedule::one_f_one_b}) {
    for (int p = 2; p <= 16; ++p) {
      CaseSpec spec = pipeline_case(p, schedule, p + 2);
      spec.steps = 2;
      for (int stage = 0; stage < p; ++stage) {
        ASSERT_EQ(peak_versions(work_of_stage(spec, stage)), weight_versions(spec, stage))
            << named(spec) << " stage " << stage;
      }
    }
  }
}

// Two batches of two: batch 1 begins with the initial weights, and nobody reads those of one
// update.
TEST(ScheduleFigures, VersionsThatNobodyReadsAreNotKept) {
  CaseSpec spec = pipeline_case(2, Schedule::pipedream_2bw, 2);
  EXPECT_EQ(peak_versions(work_of_stage(spec, 0)), 1);
  spec.steps = 2;
  EXPECT_EQ(peak_versions(work_of_stage(spec, 0)), 2);
}

TEST(ScheduleFigures, StreamsKeepVersionsAndFillAndDrainOnce) {
  CaseSpec spec = pipeline_case(4, Schedule::pipedream, 6);
  spec.steps = 3;

  EXPECT_EQ(weight_versions(spec, 0), 4);
  EXPECT_EQ(weight_versions(spec, 3), 1);
  EXPECT_EQ(weight_versions(pipeline_case(4, Schedule::pipedream_2bw, 4), 1), 2);
  EXPECT_EQ(weight_versions(pipeline_case(4, Schedule::zbh2, 7), 1), 1);
  EXPECT_EQ(in_flight_due(spec, 1), in_flight_of(spec, work_of_stage(spec, 1)));
  const Bubble bubble = *bubble_due(spec, {1, 2, 1});
  EXPECT_EQ(bubble.time(), 3 * 3);
  EXPECT_EQ(bubble.makespan, 18 * 3 + 9);
}

}  // namespace
}  // namespace meshparity::expect
