// What a run of a pipeline that is never flushed leaves behind: records of every step, versions,
// the ledgers of actions and memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fixtures/record_table.hpp"
#include "fixtures/step_place.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string id_of(const std::string& head) {
  return head + ".fp64.host-threads";
}

std::vector<std::string> missing_records(const std::string& id, const CaseRun& run) {
  const CaseSpec spec = parse_case(id);
  std::vector<std::string> missing;
  for (const RecordSpec& entry :
       record_table(load_named_model(MESHPARITY_MODELS, spec.model), spec)) {
    for (int step = 0; step < step_count(spec); ++step) {
      const std::string name =
          fmt::format("step{}/{}/{}", step, phase_name(entry.phase), entry.name);
      if (!run.records.contains(name)) {
        missing.push_back(name);
      }
    }
  }
  return missing;
}

TEST(PipedreamRecords, AreAllThereInEveryStep) {
  for (const char* head : {"llama-micro.tp2-pp2.sp-pipedream-mb4-clip_off-steps2",
                           "llama-micro.tp4-pp2.pipedream_vsync-mb4-momentum-clip_off-steps1",
                           "llama-micro.dp2-pp2.pipedream_2bw-mb2-clip_off-loss_mbmean"}) {
    const CaseRun run = run_whole_case(id_of(head), Level::all);

    EXPECT_THAT(run.complaints, IsEmpty()) << head;
    EXPECT_THAT(missing_records(id_of(head), run), IsEmpty()) << head;
  }
}

// Micro-batch 3 has no token; AdamW's moments still move the weights in its step.
TEST(PipedreamRecords, AnEmptyMicroBatchTakesAStep) {
  const CaseRun run =
      run_whole_case(id_of("llama-micro.pp2.pipedream-mb4-clip_off-steps1"), Level::standard);

  EXPECT_THAT(run.records.at("step3/scalar/token_count"), ElementsAre(0));
  EXPECT_THAT(run.records.at("step3/loss/loss"), ElementsAre(0));
  EXPECT_THAT(run.records.at("step3/grad/head.weight"), testing::Each(0));
  EXPECT_THAT(run.records.at("step3/exact/step_count"), ElementsAre(4));
  EXPECT_NE(run.records.at("step3/param/head.weight"), run.records.at("step2/param/head.weight"));
}

TEST(PipedreamRecords, NameTheVersionThatEachStageUsed) {
  const CaseRun own =
      run_whole_case(id_of("llama-tiny.pp3.pipedream-mb6-clip_off-steps1"), Level::standard);
  const CaseRun vertical =
      run_whole_case(id_of("llama-tiny.pp3.pipedream_vsync-mb6-clip_off-steps1"), Level::standard);

  EXPECT_THAT(own.records.at("step1/exact/version"), ElementsAre(0, 0, 1));
  EXPECT_THAT(own.records.at("step5/exact/version"), ElementsAre(3, 4, 5));
  EXPECT_THAT(vertical.records.at("step1/exact/version"), ElementsAre(0, 0, 0));
  EXPECT_THAT(vertical.records.at("step5/exact/version"), ElementsAre(3, 3, 3));
  EXPECT_THAT(own.records.at("step5/exact/rng_key"), ElementsAre(1, 0));
}

// Nothing is stale in the first batch of 2bw: it is 1F1B without a clip.
TEST(PipedreamRecords, TheFirstBatchOf2bwHasTheBitsOf1f1b) {
  const CaseRun flushed =
      run_whole_case(id_of("llama-tiny.dp2-tp2-pp2.sp-1f1b-mb3-clip_off-steps1"), Level::standard);
  const CaseRun stream = run_whole_case(
      id_of("llama-tiny.dp2-tp2-pp2.sp-pipedream_2bw-mb3-clip_off-steps1"), Level::standard);

  EXPECT_THAT(differing(flushed, stream, ""),
              testing::UnorderedElementsAre("step0/scalar/grad_norm", "step0/scalar/clip_coef"));
}

/// "F0:0 B0:0": passes of a rank with their versions.
std::string passes_of(const std::vector<ActionRow>& rows) {
  std::string text;
  for (const ActionRow& row : rows) {
    if (row.kind == "F" || row.kind == "B") {
      text += fmt::format("{}{}{}:{}", text.empty() ? "" : " ", row.kind, row.mb, row.version);
    }
  }
  return text;
}

// One clock for the run: four times a forward of 1 and a backward of 2, and one stage of both to
// fill and drain.
TEST(PipedreamLedgers, HaveOneListOfTheRunWithItsVersionsAndItsClock) {
  const CaseRun run =
      run_whole_case(id_of("llama-micro.pp2.pipedream-mb4-clip_off-steps1"), Level::final);

  EXPECT_EQ(passes_of(run.actions.at(0)), "F0:0 F1:0 B0:0 F2:1 B1:0 F3:2 B2:1 B3:2");
  EXPECT_EQ(passes_of(run.actions.at(1)), "F0:0 B0:0 F1:1 B1:1 F2:2 B2:2 F3:3 B3:3");
  EXPECT_EQ(run.actions.at(0).back().kind, "step");
  EXPECT_EQ(run.actions.at(0).back().logical_end, 15);
  EXPECT_EQ(run.actions.at(1).back().logical_end, 13);
}

/// Bytes of parameters of each rank at their peak over those at the end.
std::vector<double> sets_of_weights(const CaseRun& run) {
  std::vector<double> sets;
  for (const std::vector<MemoryRow>& rows : run.memory) {
    for (const MemoryRow& row : rows) {
      if (row.tag == "parameter") {
        sets.push_back(static_cast<double>(row.peak) / static_cast<double>(row.current));
      }
    }
  }
  return sets;
}

TEST(PipedreamLedgers, CountEveryVersionAmongTheParameters) {
  const auto sets = [](const char* features) {
    return sets_of_weights(run_whole_case(
        id_of(fmt::format("llama-tiny.pp3.{}-clip_off-steps2", features)), Level::final));
  };

  EXPECT_THAT(sets("pipedream-mb6"), ElementsAre(3, 2, 1));
  EXPECT_THAT(sets("pipedream_vsync-mb6"), ElementsAre(3, 3, 3));
  EXPECT_THAT(sets("pipedream_2bw-mb3"), ElementsAre(2, 2, 2));
}

}  // namespace
}  // namespace meshparity
