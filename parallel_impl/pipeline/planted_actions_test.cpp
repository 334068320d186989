// Lists by hand, with and without what is planted in them.
#include "parallel_impl/pipeline/planted_actions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace meshparity {
namespace {

using enum ActionKind;

/// What is planted in a case, as its rank sees it.
FaultPlan plan_of(const std::string& fault) {
  const std::string id = "gpt-micro.pp2.zbh1-mb4-steps1.fp64.host-threads";
  return FaultPlan(parse_case(fault.empty() ? id : id + "+" + fault), 0);
}

const ActionList kLate = {{forward, 1, 0},  {backward, 1, 0}, {forward, 1, 1},
                          {backward, 1, 1}, {weight, 1, 0},   {weight, 1, 1}};
const ActionList kEarly = {{forward, 0, 0}, {forward, 0, 1},  {backward, 0, 0},
                           {weight, 0, 0},  {backward, 0, 1}, {weight, 0, 1}};

TEST(PlantedActions, AreNoneInAnUnharmedCase) {
  FaultPlan none = plan_of("");

  EXPECT_EQ(planted_actions(kLate, Schedule::zbh1, none), kLate);
  EXPECT_FALSE(sums_before(kLate, kLate[3], Schedule::one_f_one_b, none));
}

TEST(PlantedActions, SwapWeightsWhereBothBackwardPassesAreOver) {
  FaultPlan plan = plan_of("weights_swapped");

  const ActionList swapped = planted_actions(kLate, Schedule::zbh1, plan);

  EXPECT_EQ(swapped[4], (Action{weight, 1, 1}));
  EXPECT_EQ(swapped[5], (Action{weight, 1, 0}));
  EXPECT_EQ(planted_actions(kEarly, Schedule::zbh1, plan), kEarly);
  EXPECT_EQ(plan.fired().at(0).times, 1);
}

TEST(PlantedActions, LeaveTheLastWeightsUndone) {
  FaultPlan plan = plan_of("last_weights_undone");

  const ActionList shorter = planted_actions(kEarly, Schedule::zbh1, plan);

  EXPECT_EQ(shorter, ActionList(kEarly.begin(), kEarly.end() - 1));
}

TEST(PlantedActions, SwapBackwardPassesAndTheirMessagesOfGpipeOnly) {
  FaultPlan plan = plan_of("backwards_swapped");
  const ActionList list = {{forward, 0, 0},  {forward, 0, 1},          {receive_backward, 0, 0},
                           {backward, 0, 0}, {receive_backward, 0, 1}, {backward, 0, 1}};
  const ActionList swapped = {{forward, 0, 0},  {forward, 0, 1},          {receive_backward, 0, 1},
                              {backward, 0, 1}, {receive_backward, 0, 0}, {backward, 0, 0}};

  EXPECT_EQ(planted_actions(list, Schedule::gpipe, plan), swapped);
  EXPECT_EQ(planted_actions(list, Schedule::one_f_one_b, plan), list);
}

TEST(PlantedActions, SumTooSoonBeforeTheLastBackwardPassOf1f1b) {
  FaultPlan plan = plan_of("sums_in_cooldown");

  EXPECT_FALSE(sums_before(kLate, kLate[1], Schedule::one_f_one_b, plan));
  EXPECT_FALSE(sums_before(kLate, kLate[3], Schedule::gpipe, plan));
  EXPECT_TRUE(sums_before(kLate, kLate[3], Schedule::one_f_one_b, plan));
}

}  // namespace
}  // namespace meshparity
