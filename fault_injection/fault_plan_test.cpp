#include "fault_injection/fault_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Event planted(const std::string& name) {
  Event event;
  event.kind = Event::Kind::fault;
  event.name = name;
  return event;
}

CaseSpec case_with(std::vector<Event> events) {
  CaseSpec spec;
  spec.events = std::move(events);
  return spec;
}

constexpr FaultPlace kDown{1, "mlp.down", "forward", 2, 3};

TEST(FaultPlan, OfAnUnharmedCaseAnswersNoEverywhere) {
  Event probe;
  FaultPlan plan(case_with({probe}), 0);

  EXPECT_EQ(plan.verb_at(kDown), std::nullopt);
  EXPECT_FALSE(plan.fires("rowbias_every_rank", kDown));
  EXPECT_TRUE(plan.fired().empty());
}

TEST(FaultPlan, GivesTheVerbAtItsRoleAndPhaseOnly) {
  FaultPlan plan(case_with({planted("skip_rowlinear_sum")}), 3);

  EXPECT_EQ(plan.verb_at(kDown), CommVerb::skip);
  EXPECT_EQ(plan.verb_at({1, "mlp.down", "backward", 2, 3}), std::nullopt);
  EXPECT_EQ(plan.verb_at({1, "attn.out", "forward", 2, 3}), std::nullopt);
  ASSERT_EQ(plan.fired().size(), 1U);
  EXPECT_EQ(plan.fired()[0].name, "skip_rowlinear_sum");
  EXPECT_EQ(plan.fired()[0].times, 1);
}

TEST(FaultPlan, HeedsLayerAndStep) {
  Event event = planted("skip_rowlinear_sum");
  event.layer = 1;
  event.step = 2;
  FaultPlan plan(case_with({event}), 3);

  EXPECT_EQ(plan.verb_at({0, "mlp.down", "forward", 2, 3}), std::nullopt);
  EXPECT_EQ(plan.verb_at({1, "mlp.down", "forward", 1, 3}), std::nullopt);
  EXPECT_EQ(plan.fired()[0].times, 0);
  EXPECT_EQ(plan.verb_at(kDown), CommVerb::skip);
}

TEST(FaultPlan, HeedsRanksAndNodes) {
  Event by_rank = planted("rowbias_every_rank");
  by_rank.ranks = {1, 3};
  Event by_node = planted("rowbias_every_rank");
  by_node.node = 2;
  CaseSpec spec = case_with({by_rank, by_node});
  spec.node_size = 2;

  std::vector<int> struck;
  for (int rank = 0; rank < 6; ++rank) {
    FaultPlan plan(spec, rank);
    if (plan.fires("rowbias_every_rank", {0, "attn.out", "forward", 0, rank})) {
      struck.push_back(rank);
    }
    EXPECT_EQ(plan.fired().size(), 1U);  // planted twice, counted by name
  }
  EXPECT_EQ(struck, (std::vector<int>{1, 3, 4, 5}));
}

TEST(FaultPlan, CountsHowOftenAMechanismFired) {
  FaultPlan plan(case_with({planted("rowbias_every_rank"), planted("skip_dp_grad")}), 0);

  EXPECT_TRUE(plan.fires("rowbias_every_rank", kDown));
  EXPECT_TRUE(plan.fires("rowbias_every_rank", kDown));
  EXPECT_FALSE(plan.fires("skip_rowlinear_sum", kDown));

  ASSERT_EQ(plan.fired().size(), 2U);
  EXPECT_EQ(plan.fired()[0].times, 2);
  EXPECT_EQ(plan.fired()[1].times, 0);
}

TEST(FaultPlan, AskedByLayerAloneItHeedsTheStepUnderWay) {
  Event event = planted("rowbias_every_rank");
  event.layer = 1;
  event.step = 2;
  FaultPlan plan(case_with({event}), 0);

  EXPECT_FALSE(plan.fires("rowbias_every_rank", 1));
  plan.begin_step(2);
  EXPECT_FALSE(plan.fires("rowbias_every_rank", 0));
  EXPECT_FALSE(plan.fires("rowbias_every_rank"));
  EXPECT_TRUE(plan.fires("rowbias_every_rank", 1));
}

TEST(FaultPlan, RefusesAFaultThatDoesNotExist) {
  EXPECT_THAT([] { FaultPlan(case_with({planted("no_such")}), 0); },
              ThrowsMessage<UsageError>(
                  HasSubstr("no fault is named no_such; there are skip_rowlinear_sum, ")));
}

TEST(FaultPlan, RefusesRanksWhereTheWholeGroupMustLeaveTheCallOut) {
  Event event = planted("skip_rowlinear_sum");
  event.ranks = {0};
  EXPECT_THAT([&] { FaultPlan(case_with({event}), 0); },
              ThrowsMessage<UsageError>(HasSubstr("say l<layer> or s<step>")));
}

TEST(FaultPlan, RefusesANodeWithoutANodeMap) {
  Event event = planted("rowbias_every_rank");
  event.node = 0;
  EXPECT_THAT([&] { FaultPlan(case_with({event}), 0); },
              ThrowsMessage<UsageError>(HasSubstr("add node<g>")));
}

}  // namespace
}  // namespace meshparity
