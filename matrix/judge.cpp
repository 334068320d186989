#include "matrix/judge.hpp"

#include <fmt/format.h>

#include "fixtures/error.hpp"
#include "matrix/checks/follows.hpp"
#include "matrix/checks/liveness.hpp"
#include "matrix/judge_probe.hpp"
#include "matrix/judge_records.hpp"

namespace meshparity {
namespace {

void require_key(const DumpSet& reference, const CaseSpec& spec) {
  const std::string& id = reference.header().case_id;
  const std::string held = reference_key(parse_case(id));
  const std::string wanted = reference_key(spec);
  if (held != wanted) {
    throw UsageError(fmt::format("the reference's dump is of {}, the case needs {}", held, wanted));
  }
}

void require_case(const DumpSet& candidate, const std::string& id) {
  for (const auto& [rank, reader] : candidate.readers()) {
    if (reader.header().case_id != id) {
      throw UsageError(fmt::format("{} of the candidate's dump is of case {}, not of {}",
                                   rank_file_name(rank), reader.header().case_id, id));
    }
  }
}

void add_blind_checks(CaseReport& report) {
  for (const std::string_view name : kCheckNames) {
    if (name != "liveness") {
      CheckResult& result = report.checks.emplace_back();
      result.check = name;
      result.evidence = false;
      result.notes = {"no evidence: the launch died"};
    }
  }
}

DumpSet candidate_of(const Evidence& evidence, const std::string& id) {
  DumpSet candidate(evidence.candidate);
  require_case(candidate, id);
  return candidate;
}

std::vector<CheckResult> judge_dump(const Evidence& evidence, const std::string& id) {
  if (is_probe(evidence.spec)) {
    return judge_probe(evidence, candidate_of(evidence, id));
  }
  const DumpSet reference(evidence.reference);
  require_readable(reference);
  require_key(reference, evidence.spec);
  return judge_records(evidence, reference, candidate_of(evidence, id));
}

}  // namespace

CaseReport judge(const Evidence& evidence) {
  CaseReport report;
  report.case_id = format_case(evidence.spec);
  report.replay = evidence.replay;
  report.checks.push_back(check_liveness(evidence));
  if (evidence.outcome.finished) {
    for (CheckResult& result : judge_dump(evidence, report.case_id)) {
      report.checks.push_back(std::move(result));
    }
  } else {
    add_blind_checks(report);
  }
  report.verdict = gravest(report.checks);
  mark_followers(report);
  return report;
}

}  // namespace meshparity
