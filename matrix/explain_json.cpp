#include <nlohmann/json.hpp>

#include "matrix/expect/grid.hpp"
#include "matrix/explain.hpp"

namespace meshparity {
namespace {

using Json = nlohmann::ordered_json;

Json ranks_json(const Explanation& it) {
  Json ranks = Json::array();
  for (int rank = 0; rank < it.world; ++rank) {
    ranks.push_back({{"rank", rank},
                     {"coordinate", expect::place_text(it.spec, rank)},
                     {"node", rank / it.ranks_per_node}});
  }
  return ranks;
}

Json groups_json(const Explanation& it) {
  Json sets = Json::array();
  for (const GroupSet& set : it.groups) {
    Json groups = Json::array();
    for (const expect::Group& group : set.groups) {
      groups.push_back(group.ranks);
    }
    sets.push_back({{"axes", set.axes}, {"within_a_node", set.within_a_node}, {"ranks", groups}});
  }
  return sets;
}

Json box_json(const Box& box) {
  return {{"start", box.start}, {"extent", box.extent}};
}

Json parameters_json(const Explanation& it) {
  Json all = Json::array();
  for (const HeldParameter& held : it.parameters) {
    all.push_back({{"name", held.name},
                   {"shape", held.shape},
                   {"box", box_json(held.box)},
                   {"in_memory", held.in_memory},
                   {"owned", {held.owned_from, held.owned_from + held.owned}},
                   {"how", held.how},
                   {"holders", held.holders}});
  }
  return all;
}

Json records_json(const Explanation& it) {
  Json all = Json::array();
  for (const HeldRecord& held : it.records) {
    Json boxes = Json::array();
    for (const Box& box : held.boxes) {
      boxes.push_back(box_json(box));
    }
    all.push_back({{"phase", phase_name(held.phase)},
                   {"record", held.record},
                   {"shape", held.shape},
                   {"boxes", boxes}});
  }
  return all;
}

Json calls_json(const Explanation& it) {
  Json all = Json::array();
  for (const CallKind& call : it.calls) {
    all.push_back({{"kind", call.kind},
                   {"site", call.site},
                   {"axis", call.axis},
                   {"group_size", call.group_size},
                   {"calls", call.calls},
                   {"count", call.count},
                   {"bytes", call.bytes}});
  }
  return all;
}

Json loads_json(const Explanation& it) {
  Json all = Json::array();
  for (const AxisLoad& load : it.loads) {
    all.push_back({{"axis", load.payload.axis},
                   {"calls", load.payload.calls},
                   {"bytes", load.payload.bytes},
                   {"wire_bytes", load.wire_bytes},
                   {"crosses_nodes", load.crosses_nodes}});
  }
  return all;
}

Json memory_json(const Explanation& it) {
  Json all = Json::array();
  for (const ShareMemory& each : it.memory) {
    Json bytes;
    for (const std::string_view tag : expect::kDueTags) {
      bytes[std::string(tag)] = each.memory.of(tag);
    }
    all.push_back({{"shares", each.shares}, {"bytes", bytes}, {"total", each.memory.total()}});
  }
  return all;
}

Json losses_json(const Explanation& it) {
  Json all = Json::array();
  for (const NodeLoss& loss : it.losses) {
    Json hit = Json::object();
    for (const auto& [axes, count] : loss.groups_hit) {
      hit[axes] = count;
    }
    all.push_back({{"node", loss.node},
                   {"ranks", loss.ranks},
                   {"groups_hit", hit},
                   {"shares_lost", loss.shares_lost}});
  }
  return all;
}

Json actions_json(const StageView& stage) {
  Json all = Json::array();
  for (const expect::TimedAction& each : stage.actions) {
    all.push_back({{"kind", expect::action_word(each.action.kind)},
                   {"chunk", each.action.chunk},
                   {"mb", each.action.mb},
                   {"version", each.action.version},
                   {"start", each.start},
                   {"end", each.end}});
  }
  return all;
}

Json bubble_json(const expect::Bubble& bubble) {
  return {{"busy", bubble.busy},
          {"span", bubble.span},
          {"makespan", bubble.makespan},
          {"time", bubble.time()},
          {"of_span", bubble.by_span},
          {"beta_tot", bubble.share_of_makespan()},
          {"beta_id", bubble.share_of_ideal()}};
}

Json schedule_json(const std::optional<ScheduleView>& view) {
  if (!view) {
    return nullptr;
  }
  Json stages = Json::array();
  for (const StageView& stage : view->stages) {
    stages.push_back({{"chunks", stage.chunks},
                      {"pieces", stage.pieces},
                      {"in_flight_inputs", stage.in_flight.inputs},
                      {"in_flight_weights", stage.in_flight.weights},
                      {"weight_versions", stage.weight_versions},
                      {"actions", actions_json(stage)}});
  }
  return {{"name", view->name},
          {"micro_batches", view->micro_batches},
          {"chunks_per_stage", view->chunks_per_stage},
          {"stages", stages},
          {"bubble", bubble_json(view->bubble)},
          {"barrier", view->barrier}};
}

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs,
                const std::string& key, const std::string& value) {
  Json all = Json::array();
  for (const auto& [first, second] : pairs) {
    all.push_back({{key, first}, {value, second}});
  }
  return all;
}

}  // namespace

std::string explanation_json(const Explanation& it) {
  Json all = {{"case", it.case_id},
              {"world", it.world},
              {"ranks_per_node", it.ranks_per_node},
              {"rank", it.rank},
              {"no_formulas", it.no_formulas},
              {"ranks", ranks_json(it)},
              {"groups", groups_json(it)},
              {"schedule", schedule_json(it.schedule)},
              {"parameters", parameters_json(it)},
              {"records", records_json(it)},
              {"collectives", calls_json(it)},
              {"traffic", loads_json(it)},
              {"memory", memory_json(it)},
              {"node_losses", losses_json(it)},
              {"checks", pairs_json(it.checks, "check", "not_asked")},
              {"relations", pairs_json(it.relations, "relation", "partner")}};
  return all.dump(1) + "\n";
}

}  // namespace meshparity
