#include "matrix/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "fixtures/error.hpp"
#include "fixtures/legality.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity {
namespace {

void require_sensible(const PlanQuestion& question) {
  if (question.ranks < 1 || question.micro_batches < 1 || question.ranks_per_node < 0 ||
      question.memory_limit < 0) {
    throw UsageError("plan: ranks and micro-batches start at 1, nothing is negative");
  }
}

CaseSpec case_of(const PlanQuestion& question, int tp, bool sequence_parallel) {
  CaseSpec spec;
  spec.model = question.model.name;
  spec.mesh.set_degree(Axis::dp, question.ranks / tp);
  spec.mesh.set_degree(Axis::tp, tp);
  spec.sequence_parallel = sequence_parallel;
  spec.micro_batches = question.micro_batches;
  spec.precision = question.precision;
  return spec;
}

int ranks_per_node(const PlanQuestion& question) {
  return question.ranks_per_node > 0 ? question.ranks_per_node : question.ranks;
}

/// Rank 0 has the first tensor shard, which keeps the most rows.
PlannedLayout costs_of(const PlanQuestion& question, CaseSpec spec) {
  PlannedLayout planned;
  planned.spec = std::move(spec);
  const expect::Layout layout{planned.spec, question.model};
  planned.memory = expect::memory_of(layout, 0);
  planned.loads = loads_of(layout, 0, ranks_per_node(question));
  for (const AxisLoad& load : planned.loads) {
    (load.crosses_nodes ? planned.across_nodes : planned.within_nodes) += load.wire_bytes;
  }
  planned.fits = question.memory_limit == 0 || planned.memory.total() <= question.memory_limit;
  return planned;
}

std::string reason_of(const PlanQuestion& question, const PlannedLayout& planned) {
  if (!planned.fits) {
    return fmt::format("needs {} bytes more than a rank has",
                       planned.memory.total() - question.memory_limit);
  }
  std::string reason;
  for (const AxisLoad& load : planned.loads) {
    reason += fmt::format("{}{} {}", reason.empty() ? "" : ", ", load.payload.axis,
                          load.crosses_nodes ? "crosses nodes" : "stays within nodes");
  }
  return reason.empty() ? "sends nothing" : reason;
}

auto rank_key(const PlannedLayout& planned) {
  return std::make_tuple(!planned.fits, planned.across_nodes,
                         planned.across_nodes + planned.within_nodes, planned.memory.total());
}

}  // namespace

Plan plan_layouts(const PlanQuestion& question) {
  require_sensible(question);
  Plan plan;
  for (int tp = 1; tp <= question.ranks; ++tp) {
    if (question.ranks % tp != 0) {
      continue;
    }
    for (const bool sequence_parallel : {false, true}) {
      CaseSpec spec = case_of(question, tp, sequence_parallel);
      if (sequence_parallel && tp == 1) {
        continue;
      }
      if (const auto why = why_illegal(question.model, spec)) {
        if (!sequence_parallel) {
          plan.excluded.emplace_back(format_mesh(spec.mesh), *why);
        }
        continue;
      }
      plan.layouts.push_back(costs_of(question, std::move(spec)));
      plan.layouts.back().reason = reason_of(question, plan.layouts.back());
    }
  }
  std::stable_sort(
      plan.layouts.begin(), plan.layouts.end(),
      [](const PlannedLayout& a, const PlannedLayout& b) { return rank_key(a) < rank_key(b); });
  return plan;
}

ServingProcesses serving_processes(const CaseSpec& spec) {
  ServingProcesses processes;
  const int replicas = spec.mesh.degree(Axis::dp);
  processes.api_servers = replicas;
  processes.engine_cores = replicas;
  processes.workers = expect::world_of(spec.mesh);
  processes.coordinators = replicas > 1 ? 1 : 0;
  for (const expect::Group& group : expect::all_groups(spec, std::array{Axis::tp})) {
    processes.workers_of_core.push_back(group.ranks);
  }
  return processes;
}

}  // namespace meshparity
