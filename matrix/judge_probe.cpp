#include "matrix/judge_probe.hpp"

#include "matrix/checks/collectives.hpp"
#include "matrix/checks/probe.hpp"
#include "matrix/judge_records.hpp"

namespace meshparity {

std::vector<CheckResult> judge_probe(const Evidence& evidence, const DumpSet& candidate) {
  const JudgeContext context{evidence, candidate, candidate, nullptr, std::nullopt, nullptr};
  std::vector<CheckResult> results;
  for (const std::string_view name : kCheckNames) {
    if (name == "liveness") {
      continue;
    }
    CheckResult& result = results.emplace_back();
    result.check = name;
    if (name == "coverage") {
      check_probe(context, result);
    } else if (name == "collectives") {
      check_collectives(context, result);
    } else {
      result.notes.push_back("not asked of a probe");
    }
    result.evidence = result.compared > 0 || !result.findings.empty();
    result.verdict = verdict_of(result);
  }
  return results;
}

}  // namespace meshparity
