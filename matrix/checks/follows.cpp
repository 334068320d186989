#include "matrix/checks/follows.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

enum Stage { forward_stage, backward_stage, grad_stage, scalar_stage, step_stage };

Stage stage_of(const Finding& finding) {
  switch (finding.phase) {
    case Phase::forward:
    case Phase::loss:
      return forward_stage;
    case Phase::backward:
      return backward_stage;
    case Phase::grad:
      return grad_stage;
    case Phase::scalar:
    case Phase::margin:
      return scalar_stage;
    case Phase::param:
    case Phase::master:
    case Phase::moment1:
    case Phase::moment2:
      return step_stage;
    case Phase::exact:
      return finding.order < 0 ? forward_stage : step_stage;
  }
  return forward_stage;
}

/// Made from the data alone, whatever the model computes.
bool depends_on_data_only(const Finding& finding) {
  return finding.phase == Phase::exact || finding.record == "token_count" || finding.record == "lr";
}

bool is_about_values(const Finding& finding) {
  return finding.gravity == Verdict::diverges && finding.step >= 0 && finding.check != "coverage";
}

/// Same record, compared with its copies first and with the reference then.
bool repeats(const Finding& finding, const Finding& first) {
  return finding.step == first.step && finding.phase == first.phase &&
         finding.record == first.record;
}

bool lies_behind(const Finding& finding, const Finding& first) {
  if (finding.step != first.step) {
    return finding.step > first.step;
  }
  const Stage stage = stage_of(finding);
  const Stage first_stage = stage_of(first);
  if (stage != first_stage) {
    return stage > first_stage;
  }
  const bool chained = stage == forward_stage || stage == backward_stage;
  return repeats(finding, first) || (chained && finding.order > first.order);
}

}  // namespace

void mark_followers(CaseReport& report) {
  const Finding* first = first_cause(report);
  if (first == nullptr || !is_about_values(*first)) {
    return;
  }
  const Finding cause = *first;
  const std::string name = fmt::format("{} {} {} step {}", cause.check, phase_name(cause.phase),
                                       cause.record, cause.step);
  for (CheckResult& check : report.checks) {
    for (Finding& finding : check.findings) {
      const bool itself = finding.check == cause.check && repeats(finding, cause);
      if (!itself && finding.follows_from.empty() && is_about_values(finding) &&
          !depends_on_data_only(finding) && lies_behind(finding, cause)) {
        finding.follows_from = name;
      }
    }
  }
}

}  // namespace meshparity
