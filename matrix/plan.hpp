// Advice before anything is written: which layouts of a model are legal on so many ranks, what each
// costs in memory and in bytes sent, and why one stands before another.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "matrix/explain.hpp"

namespace meshparity {

struct PlanQuestion {
  ModelSpec model;
  int ranks = 1;
  int ranks_per_node = 0;  // 0: all share one
  int micro_batches = 1;
  Precision precision = Precision::fp64;
  std::int64_t memory_limit = 0;  // bytes of a rank; 0: none
};

struct PlannedLayout {
  CaseSpec spec;
  expect::RankMemory memory;    // of the rank that needs most
  std::vector<AxisLoad> loads;  // of a rank and step
  double across_nodes = 0;      // bytes that a rank sends in a step over links between nodes
  double within_nodes = 0;
  bool fits = true;
  std::string reason;
};

struct Plan {
  std::vector<PlannedLayout> layouts;                         // the best first
  std::vector<std::pair<std::string, std::string>> excluded;  // mesh, and why
};

/// All splits of the ranks over dp and tp, tp with and without sequence parallelism. In front are
/// those that fit into memory, then those that send least across nodes, then least in all, then
/// those that need least memory. Throws UsageError for numbers that mean nothing.
Plan plan_layouts(const PlanQuestion& question);

std::string plan_text(const PlanQuestion& question, const Plan& plan);
std::string plan_json(const PlanQuestion& question, const Plan& plan);

/// Processes of an inference server that is laid out alike (algorithms.md §9.6): each replica has
/// an engine core, which owns the workers of its tensor shards; by default there is an API server a
/// replica, and replicas share a coordinator.
struct ServingProcesses {
  int api_servers = 1;
  int engine_cores = 1;
  int workers = 1;
  int coordinators = 0;
  std::vector<std::vector<int>> workers_of_core;  // by replica: ranks that fail with it

  int total() const { return api_servers + engine_cores + workers + coordinators; }
};
ServingProcesses serving_processes(const CaseSpec& spec);

}  // namespace meshparity
