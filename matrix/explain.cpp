#include "matrix/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"
#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/record_parts.hpp"
#include "matrix/expect/shards.hpp"
#include "matrix/expect/tied.hpp"
#include "matrix/relations.hpp"

namespace meshparity {
namespace {

class Explainer {
 public:
  Explainer(const CaseSpec& spec, const ModelSpec& model, const ExplainOptions& options)
      : layout_{spec, model}, tp_(spec.mesh.degree(Axis::tp)) {
    out_.case_id = format_case(spec);
    out_.spec = spec;
    out_.model = model;
    out_.world = expect::world_of(spec.mesh);
    const int mapped = options.ranks_per_node > 0 ? options.ranks_per_node : spec.node_size;
    out_.ranks_per_node = mapped > 0 ? mapped : out_.world;
    out_.rank = options.rank;
    out_.columns = options.columns;
    if (options.rank < 0 || options.rank >= out_.world) {
      throw UsageError(
          fmt::format("--rank {}: the case has ranks 0 to {}", options.rank, out_.world - 1));
    }
  }

  Explanation run() {
    add_groups();
    if (!is_probe(layout_.spec)) {
      out_.schedule = schedule_view(layout_);
    }
    if (const auto why = expect::why_no_calls(layout_.spec)) {
      out_.no_formulas = *why;
    } else {
      add_parameters();
      add_records();
      out_.calls = calls_of_step(layout_, out_.rank);
      out_.loads = loads_of(layout_, out_.rank, out_.ranks_per_node);
      if (!is_probe(layout_.spec)) {
        add_memory();
      }
      add_losses();
    }
    add_checks();
    add_relations();
    return std::move(out_);
  }

 private:
  void add_groups() {
    for (const Axis axis : {Axis::dp, Axis::tp, Axis::pp, Axis::cp}) {
      if (layout_.spec.mesh.degree(axis) > 1) {
        add_set("", expect::all_groups(layout_.spec, std::array{axis}));
      }
    }
    if (tp_ > layout_.model.kv_heads) {
      add_set("key heads", key_head_groups());
    }
    if (std::vector<expect::Group> tied = tied_groups(); !tied.empty()) {
      add_set("tied weight", std::move(tied));
    }
  }

  std::vector<expect::Group> key_head_groups() const {
    const int copies = tp_ / layout_.model.kv_heads;
    std::vector<expect::Group> groups;
    for (const expect::Group& tp : expect::all_groups(layout_.spec, std::array{Axis::tp})) {
      for (auto first = tp.ranks.begin(); first != tp.ranks.end(); first += copies) {
        groups.push_back({tp.axes, {first, first + copies}});
      }
    }
    return groups;
  }

  /// Pairs of ranks that hold a copy each of the tied weight.
  std::vector<expect::Group> tied_groups() const {
    std::vector<expect::Group> groups;
    for (int rank = 0; rank < out_.world; ++rank) {
      expect::Group copies = expect::tied_copies(layout_, rank);
      if (copies.size() > 1 && copies.ranks.front() == rank) {
        groups.push_back(std::move(copies));
      }
    }
    return groups;
  }

  void add_set(const std::string& name, std::vector<expect::Group> groups) {
    GroupSet set{name.empty() ? groups.front().axes : name, std::move(groups), 0};
    set.within_a_node = static_cast<int>(std::count_if(
        set.groups.begin(), set.groups.end(),
        [&](const expect::Group& group) { return shares_node(group.ranks, out_.ranks_per_node); }));
    out_.groups.push_back(std::move(set));
  }

  void add_parameters() {
    const int stages = layout_.spec.mesh.degree(Axis::pp);
    for (const ParamSpec& param : expect::params_of(layout_, out_.rank)) {
      const expect::ParamPart part = expect::part_of(param, layout_, out_.rank);
      HeldParameter held{param.name, param.shape, part.box, part.in_memory,
                         "whole",    0,           0,        out_.world / stages};
      const expect::Range owned = expect::shard_of(param, layout_, out_.rank);
      held.owned_from = owned.lo;
      held.owned = owned.count();
      if (part.cut && tp_ > 1) {
        held.how = "cut over tp";
        held.holders = out_.world / stages / tp_ * part.copies;
      }
      if (expect::reads_another(param, layout_, out_.rank)) {
        held.how += ", the values of " + param.tied_to;
      }
      out_.parameters.push_back(std::move(held));
    }
  }

  void add_records() {
    for (const RecordSpec& record : record_table(layout_.model, layout_.spec)) {
      if (record.level <= Level::standard && expect::is_of_samples(record) &&
          expect::holds(record, layout_, out_.rank)) {
        const Placement place = expect::part_of(record, layout_, out_.rank, 0);
        out_.records.push_back(
            {record.name, record.phase, record.shape, std::get<BoxPlacement>(place).boxes});
      }
    }
  }

  void add_memory() {
    std::map<std::string, int> shares;
    for (int rank = 0; rank < out_.world; ++rank) {
      shares.emplace(share_of_state(rank), rank);
    }
    for (const auto& [share, rank] : shares) {
      const expect::RankMemory memory = expect::memory_of(layout_, rank);
      auto found = std::find_if(out_.memory.begin(), out_.memory.end(),
                                [&](const ShareMemory& each) { return each.memory == memory; });
      if (found == out_.memory.end()) {
        found = out_.memory.insert(out_.memory.end(), {{}, memory});
      }
      found->shares.push_back(share);
    }
  }

  /// What a rank has of parameters and optimizer state, by the coordinates that decide it.
  std::string share_of_state(int rank) const {
    std::string share;
    for (const Axis axis : {Axis::dp, Axis::tp, Axis::pp}) {
      const bool decides = axis != Axis::dp || layout_.spec.zero_stage > 0;
      if (decides && layout_.spec.mesh.degree(axis) > 1) {
        share += fmt::format("{}{}{}", share.empty() ? "" : " ", axis_name(axis),
                             expect::coordinate_on(layout_.spec, rank, axis));
      }
    }
    return share.empty() ? "the whole model" : share;
  }

  void add_losses() {
    std::map<std::string, std::set<int>> nodes_of_share;
    for (int rank = 0; rank < out_.world; ++rank) {
      const int node = rank / out_.ranks_per_node;
      if (rank % out_.ranks_per_node == 0) {
        out_.losses.push_back({node, {}, {}, {}});
      }
      out_.losses.back().ranks.push_back(rank);
      nodes_of_share[share_of_state(rank)].insert(node);
    }
    for (const auto& [share, nodes] : nodes_of_share) {
      if (nodes.size() == 1) {
        out_.losses.at(static_cast<std::size_t>(*nodes.begin())).shares_lost.push_back(share);
      }
    }
    for (const GroupSet& set : out_.groups) {
      count_hits(set);
    }
  }

  void count_hits(const GroupSet& set) {
    for (NodeLoss& loss : out_.losses) {
      loss.groups_hit.emplace_back(set.axes, 0);
    }
    for (const expect::Group& group : set.groups) {
      std::set<int> nodes;
      for (const int rank : group.ranks) {
        nodes.insert(rank / out_.ranks_per_node);
      }
      for (const int node : nodes) {
        ++out_.losses.at(static_cast<std::size_t>(node)).groups_hit.back().second;
      }
    }
  }

  void add_checks() {
    for (const std::string_view name : kCheckNames) {
      out_.checks.emplace_back(name, why_not(name));
    }
  }

  std::string why_not(std::string_view check) const {
    const bool asked_of_probes =
        check == "liveness" || check == "coverage" || check == "collectives";
    if (is_probe(layout_.spec) && !asked_of_probes) {
      return "not asked of a probe";
    }
    const bool alone = out_.world == 1;
    if (alone && (check == "axis_took_effect" || check == "collectives" || check == "replicas")) {
      return "one rank has no axis, no peer and no copy";
    }
    return check == "collectives" || check == "memory" ? out_.no_formulas : "";
  }

  void add_relations() {
    for (const Relation& relation : relation_table()) {
      const auto partner = relation.partner(layout_.spec);
      if (partner && !is_probe(layout_.spec) && !why_illegal(layout_.model, partner->spec)) {
        const std::string level = partner->level == Level::all
                                      ? ""
                                      : fmt::format(" at level {}", level_name(partner->level));
        out_.relations.emplace_back(relation.name, format_case(partner->spec) + level);
      }
    }
  }

  expect::Layout layout_;
  int tp_;
  Explanation out_;
};

}  // namespace

Explanation explain(const CaseSpec& spec, const ModelSpec& model, const ExplainOptions& options) {
  return Explainer(spec, model, options).run();
}

}  // namespace meshparity
