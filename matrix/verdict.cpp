#include "matrix/verdict.hpp"

#include <algorithm>
#include <tuple>

namespace meshparity {
namespace {

std::size_t place_of(std::string_view check) {
  const auto found = std::find(kCheckNames.begin(), kCheckNames.end(), check);
  return static_cast<std::size_t>(found - kCheckNames.begin());
}

auto priority(const Finding& finding) {
  // A second run tells what the first is worth, not what went wrong in it.
  const bool of_second_run = finding.check == "repeatable";
  return std::make_tuple(of_second_run, !finding.follows_from.empty(), finding.step,
                         place_of(finding.check), finding.order, finding.mb);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::conforms:
      return "conforms";
    case Verdict::inconclusive:
      return "inconclusive";
    case Verdict::diverges:
      return "diverges";
  }
  return "?";
}

Verdict gravest(const std::vector<CheckResult>& checks) {
  bool evidence = false;
  Verdict worst = Verdict::conforms;
  for (const CheckResult& check : checks) {
    if (check.evidence) {
      evidence = true;
      worst = std::max(worst, check.verdict);
    }
  }
  return evidence ? worst : Verdict::inconclusive;
}

const Finding* first_cause(const CaseReport& report) {
  const Finding* first = nullptr;
  for (const CheckResult& check : report.checks) {
    for (const Finding& finding : check.findings) {
      const bool headline = finding.gravity == report.verdict;
      if (headline && (first == nullptr || priority(finding) < priority(*first))) {
        first = &finding;
      }
    }
  }
  return first;
}

}  // namespace meshparity
