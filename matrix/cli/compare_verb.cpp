#include <fmt/format.h>

#include <algorithm>

#include "matrix/cli/verbs.hpp"
#include "reports/finding_text.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kFindingsShown = 5;

void print_check(const CheckResult& check) {
  fmt::print("{:<12}  {:>12} compared  {}\n",
             check.evidence ? verdict_name(check.verdict) : "no evidence", check.compared,
             check.check);
  for (const std::string& note : check.notes) {
    fmt::print("  {}\n", note);
  }
  const std::size_t shown = std::min(kFindingsShown, check.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    for (const std::string& line : describe_finding(check.findings[i])) {
      fmt::print("  {}\n", line);
    }
  }
  if (check.findings.size() > shown) {
    fmt::print("  and {} findings more\n", check.findings.size() - shown);
  }
}

}  // namespace

int compare(const CompareVerb& options) {
  const Comparison comparison = compare_dumps(options.reference, options.candidate, options.how);
  for (const std::string& difference : comparison.differences) {
    fmt::print("differs: {}\n", difference);
  }
  for (const CheckResult& check : comparison.checks) {
    print_check(check);
  }
  fmt::print("{}\n", verdict_name(comparison.verdict));
  return exit_code(comparison.verdict);
}

}  // namespace meshparity
