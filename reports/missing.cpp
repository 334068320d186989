#include "reports/missing.hpp"

#include <fmt/format.h>

#include <set>

#include "matrix/shard.hpp"

namespace meshparity {

std::vector<std::string> without_result(const RunPlan& whole,
                                        const std::vector<CaseReport>& reports) {
  const RunPlan plan = own_part(whole);
  std::set<std::string> known;
  for (const CaseReport& report : reports) {
    known.insert(report.relation + " " + report.case_id);
  }
  std::vector<std::string> names;
  for (const std::string& id : plan.cases) {
    if (!known.contains(" " + id)) {
      names.push_back(id);
    }
  }
  for (const RelatedCases& each : plan.relations) {
    if (!known.contains(each.relation + " " + each.first)) {
      names.push_back(fmt::format("{} = {} ({})", each.first, each.partner, each.relation));
    }
  }
  return names;
}

}  // namespace meshparity
