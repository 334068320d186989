// Asynchronous pipelines by hand: llama-micro, untied, cut into embedding and block (792 numbers)
// and final norm and head (8 + 96). A micro-batch of mb4 has one sample of 5 rows of 8 numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "matrix/expect/calls.hpp"
#include "matrix/expect/memory.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/placement_runs.hpp"

namespace meshparity::expect {
namespace {

using Elements = Run;  // inside a test, Run is the test's own
using Runs = std::vector<Elements>;
using Texts = std::vector<std::string>;

ModelSpec model_of(int samples) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "llama-micro");
  model.global_batch = samples;
  return model;
}

CaseSpec case_of(const std::string& rest) {
  return parse_case("llama-micro." + rest + "-clip_off.fp64.host-threads");
}

std::vector<CollectiveRow> rows(const std::string& rest, int rank, int samples = 4) {
  const CaseSpec spec = parse_case("llama-micro." + rest + ".fp64.host-threads");
  return calls_of({spec, model_of(samples)}, Level::standard, rank);
}

/// "send pp.gradient/backward 40 1.0": the last is step and micro-batch.
Texts texts(const std::vector<CollectiveRow>& all) {
  Texts lines;
  for (const CollectiveRow& row : all) {
    lines.push_back(fmt::format("{} {} {} {}.{}", row.kind, row.site, row.count, row.step, row.mb));
  }
  return lines;
}

/// What follows the backward pass of a step on the last stage of two replicas.
Texts sums(int step) {
  return {fmt::format("all_reduce tokens/scalar 1 {}.0", step),
          fmt::format("all_reduce grad.dp/grad 8 {}.0", step),
          fmt::format("all_reduce grad.dp/grad 96 {}.0", step)};
}

Texts joined(const std::vector<Texts>& parts) {
  Texts all;
  for (const Texts& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// F 1, B 2: stage 1 has F0 at 1, B0 at 2, F1 at 4, B1 at 5, and waits for F2 until 7, when stage 0,
// busy with B0 since 4, has done it.
TEST(StreamCalls, AreOfSeveralStepsAtATime) {
  const Texts last = texts(rows("dp2-pp2.pipedream-mb4-clip_off-steps1", 2, 8));

  EXPECT_EQ(last,
            joined({{"receive pp.activation/forward 40 0.0", "receive pp.activation/forward 40 1.0",
                     "send pp.gradient/backward 40 0.0"},
                    sums(0),
                    {"receive pp.activation/forward 40 2.0", "send pp.gradient/backward 40 1.0"},
                    sums(1),
                    {"receive pp.activation/forward 40 3.0", "send pp.gradient/backward 40 2.0"},
                    sums(2),
                    {"send pp.gradient/backward 40 3.0"},
                    sums(3),
                    {"all_reduce loss/scalar 284 3.0"}}));
}

// Nobody waits for all stages: sums are of replicas and of tensor ranks, until all is over.
TEST(StreamCalls, NeverMeetAlongThePipeline) {
  for (const char* schedule : {"pipedream-mb4", "pipedream_vsync-mb4", "pipedream_2bw-mb2"}) {
    for (const int rank : {0, 7}) {
      const auto all = rows(fmt::format("dp2-tp2-pp2.{}-clip_off", schedule), rank, 8);
      EXPECT_EQ(all.back().site, "loss/scalar");
      EXPECT_EQ(all.back().axis, "dp,pp");
      for (const CollectiveRow& row : std::span(all).first(all.size() - 1)) {
        const bool is_message = row.kind == "send" || row.kind == "receive";
        EXPECT_EQ(row.axis.find("pp") != std::string::npos, is_message) << row.site;
        EXPECT_NE(row.site, "norm/scalar");
      }
    }
  }
}

// Norms of query and key heads, 4 numbers each, once a batch of two micro-batches.
TEST(StreamCalls, OfTwoBufferedWeightsAreSummedOnceABatch) {
  const auto all = rows("tp2-pp2.pipedream_2bw-mb2-clip_off", 0);
  Texts sums, sent;
  for (const std::string& text : texts(all)) {
    if (text.find("grad.tp") != std::string::npos) {
      sums.push_back(text);
    } else if (text.starts_with("send")) {
      sent.push_back(text.substr(text.rfind(' ') + 1));
    }
  }

  EXPECT_EQ(sums, (Texts{"all_reduce grad.tp/grad 8 0.0", "all_reduce grad.tp/grad 8 1.0",
                         "all_reduce grad.tp/grad 8 2.0"}));
  EXPECT_EQ(sent, (Texts{"0.0", "0.1", "1.0", "1.1", "2.0", "2.1"}));
}

TEST(StreamMemory, HoldsEveryVersionThatALaterBackwardPassReads) {
  const auto memory = [](const std::string& rest, int rank) {
    return memory_of({case_of(rest), model_of(4)}, rank);
  };

  EXPECT_EQ(memory("pp2.pipedream-mb4", 0).of("parameter"), 2 * 792 * 8);
  EXPECT_EQ(memory("pp2.pipedream-mb4", 1).of("parameter"), 104 * 8);
  EXPECT_EQ(memory("pp2.pipedream_vsync-mb4", 1).of("parameter"), 2 * 104 * 8);
  EXPECT_EQ(memory("pp3.pipedream_vsync-mb5", 2).of("parameter"), 3 * 104 * 8);
  EXPECT_EQ(memory("pp3.pipedream_2bw-mb3", 0).of("parameter"), 2 * 96 * 8);
  EXPECT_EQ(left_of("parameter", {case_of("pp2.pipedream-mb4"), model_of(4)}, 0), 792 * 8);
  EXPECT_EQ(memory("pp2.pipedream-mb4", 0).of("gradient"), 792 * 8);
  EXPECT_EQ(memory("pp2.pipedream-mb4", 0).of("optimizer"), 2 * 792 * 8);
}

TEST(StreamMemory, HasAsManyMicroBatchesInFlightAsStagesFollow) {
  const CaseSpec stream = case_of("pp3.pipedream-mb5");
  const CaseSpec naive = case_of("pp3.naive-mb5");
  for (int rank = 0; rank < 3; ++rank) {
    const RankMemory one = memory_of({naive, model_of(5)}, rank);
    const RankMemory many = memory_of({stream, model_of(5)}, rank);

    EXPECT_EQ(many.of("activation_B"), (3 - rank) * one.of("activation_B"));
    EXPECT_EQ(many.of("activation_W"), (3 - rank) * one.of("activation_W"));
  }
}

// Step 6 of two replicas is micro-batch 2 of batch 1; its records span a sample of each.
TEST(StreamOwners, AreOfAMicroBatchOnAllReplicas) {
  const CaseSpec spec = case_of("dp2-pp2.pipedream-mb4");
  const ModelSpec model = model_of(8);
  const Layout layout{spec, model};
  const RecordSpec ids = {"sample_ids", Phase::exact, {2}};

  EXPECT_EQ(placement_runs(part_of(ids, layout, 3, 0), ids.shape), (Runs{{1, 1}}));
}

TEST(StreamOwners, HaveTheLossAndTheirOwnVersions) {
  const CaseSpec spec = case_of("dp2-pp2.pipedream_vsync-mb4");
  const ModelSpec model = model_of(8);
  const Layout layout{spec, model};
  const RecordSpec loss = {"loss", Phase::loss, {1}};
  const RecordSpec version = {"version", Phase::exact, {2}};
  const RecordSpec tokens = {"token_count", Phase::scalar, {1}};

  for (const int rank : {0, 1, 2, 3}) {
    EXPECT_TRUE(holds(loss, layout, rank));
    EXPECT_TRUE(holds(version, layout, rank));
    EXPECT_TRUE(holds(tokens, layout, rank));
    EXPECT_EQ(placement_runs(part_of_step(version, layout, rank), version.shape),
              (Runs{{rank / 2, 1}}));
    EXPECT_EQ(placement_runs(part_of_step(tokens, layout, rank), tokens.shape), (Runs{{0, 1}}));
  }
}

}  // namespace
}  // namespace meshparity::expect
