// What a rank calls and moves in one step.
#include <algorithm>

#include "matrix/expect/calls.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/traffic.hpp"
#include "matrix/explain.hpp"

namespace meshparity {
namespace {

/// "layer*.mlp.up/forward"
std::string without_layer(const std::string& site) {
  const std::size_t dot = site.find('.');
  return site.starts_with("layer") ? "layer*" + site.substr(dot) : site;
}

std::vector<CollectiveRow> rows_of_step(const expect::Layout& layout, int rank) {
  CaseSpec one_step = layout.spec;
  one_step.steps = 1;
  return expect::calls_of({one_step, layout.model}, Level::standard, rank);
}

std::vector<CallKind> call_kinds(const std::vector<CollectiveRow>& rows) {
  std::vector<CallKind> kinds;
  for (const CollectiveRow& row : rows) {
    const std::string site = without_layer(row.site);
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const CallKind& each) {
      return each.site == site && each.kind == row.kind && each.count == row.count;
    });
    if (found == kinds.end()) {
      const auto size = static_cast<int>(expect::ranks_in(row.group).size());
      found = kinds.insert(kinds.end(), {row.kind, site, row.axis, size, 0, row.count, row.bytes});
    }
    ++found->calls;
  }
  return kinds;
}

/// Of a call's payload, what leaves the rank: a message whole, a collective as a ring moves it.
double sent_of_payload(const CallKind& call) {
  if (call.kind == "send" || call.kind == "receive") {
    return call.kind == "send" ? 1 : 0;
  }
  return (call.kind == "all_reduce" ? 2.0 : 1.0) * (call.group_size - 1) / call.group_size;
}

}  // namespace

std::vector<CallKind> calls_of_step(const expect::Layout& layout, int rank) {
  return call_kinds(rows_of_step(layout, rank));
}

bool shares_node(const std::vector<int>& ranks, int ranks_per_node) {
  return std::all_of(ranks.begin(), ranks.end(), [&](int rank) {
    return rank / ranks_per_node == ranks.front() / ranks_per_node;
  });
}

std::vector<AxisLoad> loads_of(const expect::Layout& layout, int rank, int ranks_per_node) {
  const std::vector<CollectiveRow> rows = rows_of_step(layout, rank);
  std::vector<AxisLoad> loads;
  for (AxisTraffic& each : expect::traffic_of(rows)) {
    loads.push_back({std::move(each), 0, false});
  }
  for (const CallKind& kind : call_kinds(rows)) {
    const auto load = std::find_if(loads.begin(), loads.end(), [&](const AxisLoad& each) {
      return each.payload.axis == kind.axis;
    });
    load->wire_bytes += sent_of_payload(kind) * static_cast<double>(kind.calls * kind.bytes);
  }
  for (AxisLoad& load : loads) {
    const std::vector<Axis> axes = expect::axes_named(load.payload.axis);
    load.crosses_nodes =
        !shares_node(expect::group_along(layout.spec, rank, axes).ranks, ranks_per_node);
  }
  return loads;
}

}  // namespace meshparity
