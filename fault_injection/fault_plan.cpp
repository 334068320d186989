#include "fault_injection/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fault_injection/fault_registry.hpp"
#include "fixtures/error.hpp"

namespace meshparity {
namespace {

void require_plantable(const CaseSpec& spec, const Event& event, const NamedFault& fault) {
  if (fault.whole_group && (!event.ranks.empty() || event.node)) {
    throw UsageError(fmt::format(
        "fault {} leaves a collective out on all its ranks alike; say l<layer> or s<step>, "
        "not r<rank> or n<node>",
        event.name));
  }
  if (event.node && spec.node_size == 0) {
    throw UsageError(
        fmt::format("fault {} names node {}, but the case has no node map; add node<g>", event.name,
                    *event.node));
  }
}

bool names_rank(const CaseSpec& spec, const Event& event, int rank) {
  const bool listed = event.ranks.empty() ||
                      std::find(event.ranks.begin(), event.ranks.end(), rank) != event.ranks.end();
  return listed && (!event.node || rank / spec.node_size == *event.node);
}

bool holds_at(const Event& event, const FaultPlace& place) {
  return (!event.layer || *event.layer == place.layer) &&
         (!event.step || *event.step == place.step);
}

}  // namespace

FaultPlan::FaultPlan(const CaseSpec& spec, int rank) : FaultPlan(spec, rank, fault_registry()) {}

FaultPlan::FaultPlan(const CaseSpec& spec, int rank, const std::vector<NamedFault>& registry)
    : rank_(rank) {
  for (const Event& event : spec.events) {
    if (event.kind != Event::Kind::fault) {
      continue;
    }
    const NamedFault& fault = find_fault(registry, event.name);
    require_plantable(spec, event, fault);
    const bool listed = std::any_of(fired_.begin(), fired_.end(),
                                    [&](const Fired& fired) { return fired.name == event.name; });
    if (!listed) {
      fired_.push_back({event.name, 0});
    }
    if (names_rank(spec, event, rank)) {
      planted_.push_back({event, fault.role, fault.phase, fault.verb});
    }
  }
}

bool FaultPlan::matches(std::string_view name, const FaultPlace& place) {
  const bool here = std::any_of(planted_.begin(), planted_.end(), [&](const Planted& planted) {
    return planted.event.name == name && holds_at(planted.event, place);
  });
  if (here) {
    count(name);
  }
  return here;
}

std::optional<CommVerb> FaultPlan::verb_at(const FaultPlace& place) {
  for (const Planted& planted : planted_) {
    const bool here = planted.verb && planted.role == place.role && planted.phase == place.phase;
    if (here && holds_at(planted.event, place)) {
      count(planted.event.name);
      return planted.verb;
    }
  }
  return std::nullopt;
}

void FaultPlan::count(std::string_view name) {
  const auto found = std::find_if(fired_.begin(), fired_.end(),
                                  [&](const Fired& fired) { return fired.name == name; });
  ++found->times;
}

}  // namespace meshparity
