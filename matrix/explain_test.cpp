// gpt-tiny and gpt-micro by hand; a world of 16,384 ranks for its figures.
#include "matrix/explain.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Explanation explained(const std::string& id, const ExplainOptions& options = {}) {
  const CaseSpec spec = parse_case(id);
  return explain(spec, load_named_model(MESHPARITY_MODELS, spec.model), options);
}

// rank = tp + 2 dp, two ranks to a node: tensor groups stay on a node, replicas cross.
TEST(Explain, SaysWhichGroupsShareANode) {
  const Explanation it = explained("gpt-micro.dp4-tp2.plain.fp64.host-threads", {2, 0});

  ASSERT_EQ(it.groups.size(), 2u);
  EXPECT_EQ(it.groups[0].axes, "dp");
  EXPECT_THAT(it.groups[0].groups.at(1).ranks, ElementsAre(1, 3, 5, 7));
  EXPECT_EQ(it.groups[0].within_a_node, 0);
  EXPECT_EQ(it.groups[1].axes, "tp");
  EXPECT_EQ(it.groups[1].groups.size(), 4u);
  EXPECT_EQ(it.groups[1].within_a_node, 4);
}

TEST(Explain, TakesTheNodeMapOfTheCase) {
  const Explanation it = explained("gpt-micro.dp4-tp2.node4.fp64.host-threads");

  EXPECT_EQ(it.ranks_per_node, 4);
  EXPECT_EQ(it.losses.size(), 2u);
}

// Node 1 of 2 ranks holds both tensor shards of replica 1: one tensor group, both groups of dp;
// three other replicas have copies. With order dp-tp a node of 4 ranks holds all copies of one
// shard.
TEST(Explain, SaysWhatIsLostWithANode) {
  const Explanation kept = explained("gpt-micro.dp4-tp2.plain.fp64.host-threads", {2, 0});
  const NodeLoss& loss = kept.losses.at(1);
  const Explanation lost =
      explained("gpt-micro.dp4-tp2.order_dp_tp_cp_ep_pp.fp64.host-threads", {4, 0});

  EXPECT_THAT(loss.ranks, ElementsAre(2, 3));
  EXPECT_THAT(loss.groups_hit,
              ElementsAre(std::pair(std::string("dp"), 2), std::pair(std::string("tp"), 1)));
  EXPECT_TRUE(loss.shares_lost.empty());
  EXPECT_THAT(lost.losses.at(0).shares_lost, ElementsAre("tp0"));
  EXPECT_THAT(lost.losses.at(1).shares_lost, ElementsAre("tp1"));
}

// up.weight [8, 12] in two halves of its outputs, each on both replicas; a norm is everywhere.
TEST(Explain, SaysWhatARankHoldsAndHowManyHoldTheSame) {
  const Explanation it = explained("gpt-micro.dp2-tp2.plain.fp64.host-threads", {0, 3});
  const auto held = [&](const std::string& name) {
    return *std::find_if(it.parameters.begin(), it.parameters.end(),
                         [&](const HeldParameter& each) { return each.name == name; });
  };

  EXPECT_EQ(held("layer0.mlp.up.weight").box, (Box{{0, 6}, {8, 6}}));
  EXPECT_EQ(held("layer0.mlp.up.weight").holders, 2);
  EXPECT_EQ(held("layer0.norm1.weight").holders, 4);
  EXPECT_EQ(held("embed.weight").box, (Box{{8, 0}, {5, 8}}));
  EXPECT_EQ(held("embed.weight").in_memory, 8 * 8);
}

// 2 sums of activations in a layer and direction, the embedding's and the head's, two
// micro-batches; a ring of two sends each payload once: 2 (2 - 1) / 2.
TEST(Explain, CountsCallsOfAStepAlikeInAllLayers) {
  const Explanation it = explained("gpt-tiny.tp2.mb2.fp64.host-threads");
  const auto down = std::find_if(it.calls.begin(), it.calls.end(), [](const CallKind& call) {
    return call.site == "layer*.mlp.down/forward";
  });

  ASSERT_NE(down, it.calls.end());
  EXPECT_EQ(down->calls, 2 * 2);
  EXPECT_EQ(down->bytes, 24 * 21 * 72 * 8);
  ASSERT_EQ(it.loads.size(), 1u);
  EXPECT_EQ(it.loads[0].wire_bytes, static_cast<double>(it.loads[0].payload.bytes));
  EXPECT_FALSE(it.loads[0].crosses_nodes);
}

// The first of two stages sends 4 activations and is sent 4 gradients; the tied weight's gradient
// goes round once.
TEST(Explain, SendsMessagesWholeAndOneWay) {
  const Explanation it = explained("gpt-tiny.pp2.1f1b-mb4.fp64.host-threads");
  const auto pp = std::find_if(it.loads.begin(), it.loads.end(),
                               [](const AxisLoad& load) { return load.payload.axis == "pp"; });
  const auto tied = std::find_if(it.groups.begin(), it.groups.end(),
                                 [](const GroupSet& set) { return set.axes == "tied weight"; });

  ASSERT_NE(pp, it.loads.end());
  EXPECT_EQ(pp->payload.calls, 8 + 1 + 1 + 1);
  EXPECT_EQ(pp->wire_bytes, 8.0 * (4 * 12 * 21 * 72 + 264 * 72 + 72 + 71));
  ASSERT_NE(tied, it.groups.end());
  EXPECT_EQ(tied->groups.front().text(), "0 1");
}

// Of 3 replicas each owns a third of what ZeRO cuts.
TEST(Explain, TellsWhatAReplicaOwns) {
  std::int64_t owned = 0;
  for (const int rank : {0, 1, 2}) {
    ExplainOptions options;
    options.rank = rank;
    const CaseSpec spec = parse_case("gpt-tiny.dp3.zero1.fp64.host-threads");
    const Explanation it = explain(spec, load_named_model(MESHPARITY_MODELS, spec.model), options);
    for (const HeldParameter& held : it.parameters) {
      owned += held.name == "embed.weight" ? held.owned : 0;
    }
    EXPECT_THAT(explanation_text(it), testing::HasSubstr("keeps master and moments of no others"));
  }
  EXPECT_EQ(owned, 264 * 72);
}

TEST(Explain, NamesTheRelationsThatApplyAndTheirPartners) {
  const Explanation it = explained("gpt-micro.tp2.plain.fp64.host-threads");

  EXPECT_THAT(it.relations,
              testing::Contains(std::pair(
                  std::string("tp1"), std::string("gpt-micro.single.plain.fp64.host-threads"))));
}

TEST(Explain, SaysWhereThereAreNoFormulasAndStillGivesGroups) {
  const Explanation it = explained("gpt-tiny.cp2.cp_ring.fp64.host-threads");

  EXPECT_EQ(it.groups.at(0).axes, "cp");
  EXPECT_THAT(it.no_formulas, HasSubstr("cp2"));
  EXPECT_THAT(explanation_text(it), HasSubstr("cp2"));
}

TEST(Explain, RefusesARankThatTheCaseDoesNotHave) {
  EXPECT_THROW(explained("gpt-micro.dp2.plain.fp64.host-threads", {0, 2}), UsageError);
}

TEST(Explain, GivesProgramsAllAndPeopleShortLists) {
  const Explanation it = explained("gpt-tiny.dp8-tp12.sp.fp64.host-threads", {12, 5});
  const nlohmann::json json = nlohmann::json::parse(explanation_json(it));

  EXPECT_EQ(json.at("ranks").size(), 96u);
  EXPECT_EQ(json.at("ranks").at(17).at("coordinate"), "dp1 tp5");
  EXPECT_EQ(json.at("groups").at(0).at("ranks").size(), 12u);
  EXPECT_THAT(explanation_text(it), HasSubstr("and 80 more (--json has all)"));
}

// Groups of all ranks, one by one, are those that a ledger is held against.
TEST(Explain, ListsTheGroupsThatTheChecksExpect) {
  const CaseSpec spec = parse_case("gpt-tiny.dp4-tp3.order_dp_tp_cp_ep_pp.fp64.host-threads");
  for (const Axis axis : {Axis::dp, Axis::tp}) {
    for (const expect::Group& group : expect::all_groups(spec, std::array{axis})) {
      for (const int rank : group.ranks) {
        EXPECT_EQ(group.ranks, expect::group_along(spec, rank, std::array{axis}).ranks);
      }
    }
  }
}

TEST(Explain, TakesAWorldOf16384Ranks) {
  CaseSpec spec = parse_case("gpt-tiny.dp2048-tp8.sp-mb4.fp32.host-threads");
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "llama-timing");
  model.layers = 96;
  model.hidden = 18432;
  model.ffn = 73728;
  model.heads = 144;
  model.kv_heads = 16;
  model.head_dim = 128;
  model.sequence = 2048;
  model.global_batch = 8192;

  const Explanation it = explain(spec, model, {8, 16383});

  EXPECT_EQ(it.groups.at(0).groups.size(), 8u);
  EXPECT_EQ(it.groups.at(1).groups.size(), 2048u);
  EXPECT_EQ(it.groups.at(1).within_a_node, 2048);
  EXPECT_EQ(it.losses.size(), 2048u);
  EXPECT_THAT(explanation_json(it), HasSubstr("\"rank\": 16383"));
}

}  // namespace
}  // namespace meshparity
