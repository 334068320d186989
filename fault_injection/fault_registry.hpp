// The registry of named faults: each is a mechanism (kind, verb, role of the site) that declares
// beforehand where it acts, where it must not be visible, and which check finds it first.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/record_table.hpp"

namespace meshparity {

struct NamedFault {
  std::string name;
  std::string kind;                       // faults.md: "missing reduction", "wrong group", ...
  std::string role;                       // of the site: "mlp.down", "grad.dp", ...
  std::string phase;                      // "forward", "backward", "grad"
  std::optional<CommVerb> verb = {};      // none: a mechanism inside the model, asked by name
  bool whole_group = false;               // its ranks must all do it: no where-word may name ranks
  std::string where = {};                 // planted there: "r1"; empty: wherever it acts
  std::vector<std::string> acts_in = {};  // case ids (without the fault) that must diverge
  std::vector<std::string> invisible_in = {};  // case ids in which it must not be visible
  Level level = Level::standard;               // at which `check` looks for it
  std::string check = {};                      // the first finding's check,
  std::string record = {};                     // record (empty with checks of ledgers)
  int step = 0;                                // and step; -1: of the run
  std::vector<int> ranks = {0, 1, 2, 3};       // ranks that may be named, in every case of acts_in
  std::string relation = {};                   // that it breaks in every case of `related`,
  std::string related_record = {};             // first at this record
  std::vector<std::string> related = {};
};

/// The case id with the fault planted in it.
std::string with_fault(const std::string& id, const NamedFault& fault);

const std::vector<NamedFault>& fault_registry();
/// Throws UsageError listing the names that exist.
const NamedFault& find_fault(std::string_view name);
const NamedFault& find_fault(const std::vector<NamedFault>& registry, std::string_view name);

}  // namespace meshparity
