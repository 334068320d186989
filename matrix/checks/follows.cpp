#include "matrix/checks/follows.hpp"

#include <fmt/format.h>

#include <utility>

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

/// Which collectives a rank enters, what it allocates and in which order it works depends on no
/// value.
bool is_about_values(const Finding& finding) {
  return finding.gravity == Verdict::diverges && finding.step >= 0 && finding.check != "coverage" &&
         finding.check != "collectives" && finding.check != "memory" && finding.check != "schedule";
}

/// Same record, compared with its copies first and with the reference then.
bool repeats(const Finding& finding, const Finding& first) {
  return finding.step == first.step && finding.phase == first.phase &&
         finding.record == first.record;
}

/// A step that began with the candidate's own state owes nothing to earlier steps, except that
/// copies which differ since then are one state no more.
bool crosses_steps(const Finding& finding, const Finding& first) {
  return finding.step > first.step &&
         (finding.basis == Basis::reference || first.check == "replicas");
}

bool lies_behind(const Finding& finding, const Finding& first) {
  if (finding.step != first.step) {
    return crosses_steps(finding, first);
  }
  const Stage stage = stage_of(finding);
  const Stage first_stage = stage_of(first);
  if (stage != first_stage) {
    return stage > first_stage;
  }
  const bool chained = stage == forward_stage || stage == backward_stage;
  return repeats(finding, first) || (chained && finding.order > first.order);
}

/// A law is about one record and what it was made of; only the same record explains it.
bool follows(const Finding& finding, const Finding& first) {
  return finding.basis == Basis::own_step ? repeats(finding, first) : lies_behind(finding, first);
}

void mark_behind(CaseReport& report, const Finding& cause) {
  const std::string name = fmt::format("{} {} {} step {}", cause.check, phase_name(cause.phase),
                                       cause.record, cause.step);
  for (CheckResult& check : report.checks) {
    for (Finding& finding : check.findings) {
      const bool itself =
          finding.check == cause.check && finding.basis == cause.basis && repeats(finding, cause);
      if (!itself && finding.follows_from.empty() && is_about_values(finding) &&
          !depends_on_data_only(finding) && follows(finding, cause)) {
        finding.follows_from = name;
      }
    }
  }
}

/// What nothing explains so far in a step that began with the candidate's own state; laws explain
/// only their own record.
const Finding* next_cause(const CaseReport& report, int after_step) {
  const Finding* next = nullptr;
  for (const CheckResult& check : report.checks) {
    for (const Finding& finding : check.findings) {
      const bool own = finding.basis == Basis::own_state && finding.follows_from.empty() &&
                       is_about_values(finding) && finding.step > after_step;
      if (own && (next == nullptr ||
                  std::pair(finding.step, finding.order) < std::pair(next->step, next->order))) {
        next = &finding;
      }
    }
  }
  return next;
}

}  // namespace

void mark_followers(CaseReport& report) {
  const Finding* cause = first_cause(report);
  if (cause == nullptr || !is_about_values(*cause)) {
    return;
  }
  while (cause != nullptr) {
    const Finding copy = *cause;
    mark_behind(report, copy);
    cause = next_cause(report, copy.step);
  }
}

}  // namespace meshparity
