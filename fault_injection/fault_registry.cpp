#include "fault_injection/fault_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "fault_injection/fault_lists.hpp"
#include "fixtures/error.hpp"

namespace meshparity {
std::vector<std::string> cases(std::initializer_list<std::string_view> heads) {
  std::vector<std::string> ids;
  for (const std::string_view head : heads) {
    ids.push_back(fmt::format("{}.fp64.host-threads", head));
  }
  return ids;
}

std::vector<std::string> probes(std::initializer_list<std::string_view> heads) {
  std::vector<std::string> ids;
  for (const std::string_view head : heads) {
    ids.push_back(fmt::format("{}.steps1.fp64.host-threads+probe", head));
  }
  return ids;
}

std::string with_fault(const std::string& id, const NamedFault& fault) {
  return fmt::format("{}+{}{}{}", id, fault.name, fault.where.empty() ? "" : "-", fault.where);
}

const std::vector<NamedFault>& fault_registry() {
  static const std::vector<NamedFault> registry = [] {
    std::vector<NamedFault> all = faults_of_sums();
    for (auto list : {faults_of_scales, faults_of_order, faults_of_places, faults_of_shards,
                      faults_of_versions}) {
      std::vector<NamedFault> more = list();
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }();
  return registry;
}

const NamedFault& find_fault(std::string_view name) {
  return find_fault(fault_registry(), name);
}

const NamedFault& find_fault(const std::vector<NamedFault>& registry, std::string_view name) {
  const auto found = std::find_if(registry.begin(), registry.end(),
                                  [&](const NamedFault& fault) { return fault.name == name; });
  if (found != registry.end()) {
    return *found;
  }
  std::string names;
  for (const NamedFault& fault : registry) {
    names += names.empty() ? fault.name : ", " + fault.name;
  }
  throw UsageError(fmt::format("no fault is named {}; there are {}", name, names));
}

}  // namespace meshparity
