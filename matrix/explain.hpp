// What a case is before anything runs: mesh, groups, owners, collectives, memory, links, what is
// lost with a node, and what will be checked. From matrix/expect alone.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "matrix/expect/groups.hpp"
#include "matrix/expect/memory.hpp"
#include "matrix/explain_schedule.hpp"
#include "matrix/verdict.hpp"

namespace meshparity {

struct ExplainOptions {
  int ranks_per_node = 0;     // 0: the case's node map; without one all ranks share a node
  int rank = 0;               // whose boxes and collectives are shown
  std::size_t columns = 100;  // width of the page; only timelines are cut
};

/// All groups along a set of axes, and where they lie.
struct GroupSet {
  std::string axes;  // "tp"; "key heads": ranks of tp that hold the same ones
  std::vector<expect::Group> groups;
  int within_a_node = 0;  // groups whose ranks share a node
};

/// A parameter and what the chosen rank holds of it; `holders` ranks hold the same.
struct HeldParameter {
  std::string name;
  std::vector<std::int64_t> shape;
  Box box;
  std::int64_t in_memory = 0;   // elements, with padding
  std::string how;              // "cut over tp", "whole"
  std::int64_t owned_from = 0;  // of these elements those whose state the rank keeps: with ZeRO a
  std::int64_t owned = 0;       // share of them, else all
  int holders = 1;
};

/// The chosen rank's piece of micro-batch 0 of a record.
struct HeldRecord {
  std::string record;
  Phase phase = Phase::forward;
  std::vector<std::int64_t> shape;
  std::vector<Box> boxes;
};

/// Calls of one step, or of a run of one batch where no flush parts steps, that differ in layer and
/// micro-batch only.
struct CallKind {
  std::string kind, site, axis;  // site "layer*.mlp.up/backward"
  int group_size = 1;
  std::int64_t calls = 0, count = 0, bytes = 0;  // count and bytes of one call
};

/// What one rank moves along an axis in a step.
struct AxisLoad {
  AxisTraffic payload;
  /// Sent by a ring (algorithms.md §11.1): all_reduce 2 (P - 1) / P of the payload, all_gather and
  /// reduce_scatter (P - 1) / P; of messages those that are sent, whole.
  double wire_bytes = 0;
  bool crosses_nodes = false;
};

/// Ranks with one of these shares of the state need the same memory.
struct ShareMemory {
  std::vector<std::string> shares;  // "tp0 pp1"; replicas have the same, but for ZeRO's "dp1 tp0"
  expect::RankMemory memory;
};

/// What the loss of a node hits.
struct NodeLoss {
  int node = 0;
  std::vector<int> ranks;
  std::vector<std::pair<std::string, int>> groups_hit;  // by axes
  std::vector<std::string> shares_lost;                 // of which no copy is left on another node
};

struct Explanation {
  std::string case_id;
  CaseSpec spec;
  ModelSpec model;
  int world = 1;
  int ranks_per_node = 1;
  int rank = 0;
  std::size_t columns = 100;
  std::vector<GroupSet> groups;
  std::optional<ScheduleView> schedule;  // none: no pipeline
  std::string no_formulas;               // why the next five are empty; empty: they are not
  std::vector<HeldParameter> parameters;
  std::vector<HeldRecord> records;
  std::vector<CallKind> calls;
  std::vector<AxisLoad> loads;
  std::vector<ShareMemory> memory;
  std::vector<NodeLoss> losses;
  std::vector<std::pair<std::string, std::string>> checks;     // and when they do not apply
  std::vector<std::pair<std::string, std::string>> relations;  // and the case to be equal to
};

/// Throws UsageError for a rank that the case does not have. The case is legal.
Explanation explain(const CaseSpec& spec, const ModelSpec& model, const ExplainOptions& options);

/// Of one step that is not skipped, at level standard.
std::vector<CallKind> calls_of_step(const expect::Layout& layout, int rank);
std::vector<AxisLoad> loads_of(const expect::Layout& layout, int rank, int ranks_per_node);
/// Whether all ranks share a node, `ranks_per_node` of them to each.
bool shares_node(const std::vector<int>& ranks, int ranks_per_node);

/// For people: long lists are cut short, and say so.
std::string explanation_text(const Explanation& explanation);
/// For programs: everything.
std::string explanation_json(const Explanation& explanation);

}  // namespace meshparity
