// What a case says to its neighbours: as often as algorithms.md §1.8 counts, at the sites that
// faults and ledgers name; and what planted faults do to the records.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

struct Traffic {
  int calls = 0;
  std::int64_t count = 0;  // elements of the last call
};

/// By site, of one rank in one step.
std::map<std::string, Traffic> traffic(const CaseRun& run, std::size_t rank, int step) {
  std::map<std::string, Traffic> found;
  for (const CollectiveRow& row : run.collectives[rank]) {
    if (row.step == step) {
      Traffic& entry = found[row.site];
      ++entry.calls;
      entry.count = row.count;
    }
  }
  return found;
}

CaseRun micro(const std::string& rest) {
  return run_whole_case("gpt-micro." + rest, Level::all);
}

TEST(Communication, OfTensorParallelismIsTwoSumsALayerEachWay) {
  const CaseRun run = micro("tp2.mb2.fp64.host-threads");
  const std::map<std::string, Traffic> seen = traffic(run, 1, 0);
  const std::int64_t hidden = 2 * 5 * 8, tokens = 2 * 5;  // 2 samples a micro-batch

  std::map<std::string, std::int64_t> expected = {
      {"embed/forward", hidden},           {"layer0.attn.out/forward", hidden},
      {"layer0.mlp.down/forward", hidden}, {"loss.max/forward", tokens},
      {"loss.target/forward", tokens},     {"loss.sum/forward", 2 * tokens},
      {"head/backward", hidden},           {"layer0.mlp.up/backward", hidden},
      {"layer0.attn.qkv/backward", hidden}};
  for (const auto& [site, count] : expected) {
    ASSERT_TRUE(seen.contains(site)) << site;
    EXPECT_EQ(seen.at(site).calls, 2) << site;
    EXPECT_EQ(seen.at(site).count, count) << site;
  }
  ASSERT_TRUE(seen.contains("norm/scalar"));
  EXPECT_EQ(seen.at("norm/scalar").calls, 1);
  EXPECT_EQ(seen.size(), expected.size() + 1);
}

TEST(Communication, WithoutSmoothingTheThirdLossSumIsOneNumberAToken) {
  const CaseRun run = micro("tp2.smooth0.fp64.host-threads");

  EXPECT_EQ(traffic(run, 0, 0).at("loss.sum/forward").count, 4 * 5);
}

TEST(Communication, OfDataParallelismIsOneSumAParameterAndStep) {
  const CaseRun run = micro("dp2.mb2.fp64.host-threads");
  std::map<std::string, Traffic> seen = traffic(run, 0, 1);
  int gradients = 0;
  for (const auto& [site, entry] : seen) {
    gradients += site.ends_with("grad.dp/grad") ? entry.calls : 0;
  }

  EXPECT_EQ(gradients, 2 + 16 + 2 + 1);  // embeddings, one layer, final norm, head
  EXPECT_EQ(seen.at("tokens/scalar").calls, 1);
}

TEST(Communication, ASingleRankSaysNothing) {
  const CaseRun run = micro("single.plain.fp64.host-threads");

  EXPECT_TRUE(run.collectives[0].empty());
}

TEST(PlantedFault, RowBiasOnEveryRankIsCountedOnceARank) {
  const CaseRun sound = micro("tp2.steps1.fp64.host-threads");
  const CaseRun harmed = micro("tp2.steps1.fp64.host-threads+rowbias_every_rank");

  EXPECT_TRUE(harmed.complaints.empty());
  EXPECT_EQ(differing(sound, harmed, "step0/forward/layer0.attn.context"),
            std::vector<std::string>());
  EXPECT_NE(differing(sound, harmed, "step0/forward/layer0.attn.out"), std::vector<std::string>());
}

TEST(PlantedFault, RowBiasOnEveryRankIsInvisibleOnOneRank) {
  const CaseRun sound = micro("single.steps1.fp64.host-threads");
  const CaseRun harmed = micro("single.steps1.fp64.host-threads+rowbias_every_rank");

  EXPECT_EQ(differing(sound, harmed, "step"), std::vector<std::string>());
}

std::string first_complaint(const CaseRun& run, const std::string& prefix) {
  const auto found =
      std::find_if(run.complaints.begin(), run.complaints.end(),
                   [&](const std::string& line) { return line.starts_with(prefix); });
  return found == run.complaints.end() ? "" : *found;
}

TEST(PlantedFault, AGradientLeftOutOfTheDataSumDiffersBetweenReplicas) {
  const CaseRun harmed = micro("dp2.steps1.fp64.host-threads+skip_dp_grad");

  EXPECT_NE(first_complaint(harmed, "step0/grad/layer0.norm1.weight: unequal copies"), "");
  EXPECT_EQ(first_complaint(harmed, "step0/grad/layer0.norm1.bias"), "");
  EXPECT_EQ(first_complaint(harmed, "step0/grad/layer0.norm2.weight"), "");
}

TEST(PlantedFault, ASkippedRowSumDiffersBetweenReplicas) {
  const CaseRun harmed = micro("tp2.steps1.fp64.host-threads+skip_rowlinear_sum");

  EXPECT_NE(first_complaint(harmed, "step0/forward/layer0.mlp.out: unequal copies"), "");
  EXPECT_EQ(first_complaint(harmed, "step0/forward/layer0.attn"), "");
}

}  // namespace
}  // namespace meshparity
