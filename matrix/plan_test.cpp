#include "matrix/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PlanQuestion question(int ranks, int ranks_per_node, const char* model = "gpt-tiny") {
  PlanQuestion asked;
  asked.model = load_named_model(MESHPARITY_MODELS, model);
  asked.ranks = ranks;
  asked.ranks_per_node = ranks_per_node;
  return asked;
}

const PlannedLayout& layout_of(const Plan& plan, const std::string& mesh, bool sp = false) {
  return *std::find_if(plan.layouts.begin(), plan.layouts.end(), [&](const PlannedLayout& each) {
    return format_mesh(each.spec.mesh) == mesh && each.spec.sequence_parallel == sp;
  });
}

// algorithms.md §9.6: TP = 2, DP = 4 on 8 GPUs: 4 API servers, 4 engine cores, 8 workers, 1
// coordinator; a core and its two workers fail together.
TEST(Plan, OfTwoTensorShardsAndFourReplicasIsServedBy17Processes) {
  const Plan plan = plan_layouts(question(8, 8));
  const ServingProcesses served = serving_processes(layout_of(plan, "dp4-tp2").spec);

  EXPECT_EQ(served.api_servers, 4);
  EXPECT_EQ(served.engine_cores, 4);
  EXPECT_EQ(served.workers, 8);
  EXPECT_EQ(served.coordinators, 1);
  EXPECT_EQ(served.total(), 17);
  EXPECT_THAT(served.workers_of_core, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                  ElementsAre(4, 5), ElementsAre(6, 7)));
  EXPECT_THAT(plan_text(question(8, 8), plan),
              HasSubstr("4 API servers + 4 engine cores + 8 workers + 1 coordinators = 17"));
}

// A single replica needs no coordinator: server, core, two workers.
TEST(Plan, OfOneReplicaHasNoCoordinator) {
  EXPECT_EQ(serving_processes(parse_case("gpt-tiny.tp2.plain.fp64.host-threads")).total(), 4);
}

// 10 = 2 x 5: heads 24 do not divide by 5 or 10, 48 samples do not divide by 10 or 5.
TEST(Plan, SaysWhyASplitIsNotPossible) {
  const Plan plan = plan_layouts(question(10, 0));

  EXPECT_TRUE(plan.layouts.empty());
  ASSERT_EQ(plan.excluded.size(), 4u);
  EXPECT_EQ(plan.excluded[2].first, "dp2-tp5");
  EXPECT_THAT(plan.excluded[2].second, HasSubstr("heads 24 do not divide by tp 5"));
}

TEST(Plan, PutsThoseFirstThatSendLeastAcrossNodes) {
  const Plan plan = plan_layouts(question(8, 2));

  ASSERT_EQ(plan.layouts.size(), 1u + 3 * 2);
  for (std::size_t i = 1; i < plan.layouts.size(); ++i) {
    EXPECT_LE(plan.layouts[i - 1].across_nodes, plan.layouts[i].across_nodes);
  }
  const PlannedLayout& two = layout_of(plan, "dp4-tp2");
  EXPECT_GT(two.within_nodes, 0);
  EXPECT_GT(two.across_nodes, 0);
  EXPECT_EQ(two.reason, "tp stays within nodes, dp crosses nodes");
  EXPECT_EQ(layout_of(plan, "tp8").within_nodes, 0);
}

// At one micro-batch activations outweigh parameters: eight replicas need less than eight shards.
TEST(Plan, PutsThoseLastThatDoNotFit) {
  PlanQuestion asked = question(8, 2);
  const Plan free = plan_layouts(asked);
  asked.memory_limit = layout_of(free, "dp8").memory.total();

  const Plan limited = plan_layouts(asked);

  EXPECT_TRUE(layout_of(limited, "dp8").fits);
  EXPECT_FALSE(layout_of(limited, "tp8").fits);
  EXPECT_TRUE(limited.layouts.front().fits);
  EXPECT_FALSE(limited.layouts.back().fits);
  EXPECT_THAT(limited.layouts.back().reason, HasSubstr("bytes more than a rank has"));
}

TEST(Plan, GivesProgramsTheSame) {
  const PlanQuestion asked = question(2, 0);
  const nlohmann::json json = nlohmann::json::parse(plan_json(asked, plan_layouts(asked)));

  EXPECT_EQ(json.at("layouts").size(), 3u);
  EXPECT_EQ(json.at("layouts").at(0).at("memory").size(), 5u);
}

TEST(Plan, RefusesNumbersThatMeanNothing) {
  EXPECT_THROW(plan_layouts(question(0, 0)), UsageError);
  EXPECT_THROW(plan_layouts(question(2, -1)), UsageError);
}

}  // namespace
}  // namespace meshparity
