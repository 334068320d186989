#include "matrix/cli/run_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/finding_text.hpp"
#include "reports/margins.hpp"

namespace meshparity {
namespace {

std::string number(double value) {
  return fmt::format("{:.3g}", value);
}

// The second run, where it is not what is headlined.
void print_not_repeatable(Terminal& terminal, const CaseReport& report, const Finding* headline) {
  for (const CheckResult& check : report.checks) {
    const bool told = check.findings.empty() || &check.findings.front() == headline;
    if (check.check == "repeatable" && !told) {
      terminal.line("  " + describe_finding(check.findings.front()).front());
    }
  }
}

}  // namespace

void print_table(Terminal& terminal, const std::vector<CaseReport>& reports) {
  std::size_t width = 4;
  for (const CaseReport& report : reports) {
    width = std::max(width, report.case_id.size());
  }
  if (reports.empty()) {
    return;
  }
  terminal.line("");
  terminal.line(
      terminal.bold(fmt::format("{:<{}}  {:<12}  {:>6}  {:>7}  {}", "case", width, "verdict",
                                "margin", "seconds", "where the margin is largest")));
  for (const CaseReport& report : reports) {
    const std::optional<Margin> worst = worst_margin(report);
    terminal.line(fmt::format("{:<{}}  {}  {:>6}  {:>7.2f}  {}", report.case_id, width,
                              terminal.verdict_word(outcome_word(report), 12),
                              worst ? number(worst->margin) : "-", report.seconds,
                              worst ? place_of(*worst) : "-"));
  }
}

void print_relations(Terminal& terminal, const std::vector<CaseReport>& reports) {
  if (reports.empty()) {
    return;
  }
  terminal.line("");
  terminal.line(terminal.bold(fmt::format("{:<10}  {:<12}  {:>10}  {}", "relation", "verdict",
                                          "elements", "cases that must be equal")));
  for (const CaseReport& report : reports) {
    terminal.line(fmt::format("{:<10}  {}  {:>10}  {} = {}", report.relation,
                              terminal.verdict_word(outcome_word(report), 12),
                              report.checks.empty() ? 0 : report.checks.front().compared,
                              report.case_id, report.partner));
    for (const std::string& note : report.checks.front().notes) {
      terminal.line("            " + note);
    }
  }
}

void print_causes(Terminal& terminal, const std::vector<CaseReport>& reports) {
  for (const CaseReport& report : reports) {
    if (!report.not_run.empty() || report.verdict == Verdict::conforms) {
      continue;
    }
    terminal.line("");
    terminal.line(fmt::format("{}  {}", terminal.verdict_word(outcome_word(report), 0),
                              terminal.bold(subject_of(report))));
    const Finding* cause = first_cause(report);
    const std::vector<std::string> lines =
        cause != nullptr ? describe_finding(*cause)
                         : std::vector<std::string>{"no check had any evidence"};
    for (const std::string& line : lines) {
      terminal.line("  " + line);
    }
    print_not_repeatable(terminal, report, cause);
    terminal.line("  again: " + report.replay);
  }
}

void print_checks(Terminal& terminal, const CaseReport& report) {
  terminal.line("");
  terminal.line(terminal.bold(
      fmt::format("{:<16}  {:<12}  {:>10}  {:>8}", "check", "verdict", "compared", "findings")));
  for (const CheckResult& check : report.checks) {
    const auto word = check.evidence ? verdict_name(check.verdict) : "no evidence";
    terminal.line(fmt::format("{:<16}  {}  {:>10}  {:>8}", check.check,
                              terminal.verdict_word(word, 12), check.compared,
                              check.findings.size()));
    for (const std::string& note : check.notes) {
      terminal.line("  " + note);
    }
    for (const AxisTraffic& axis : check.traffic) {
      terminal.line(fmt::format("  along {}: {} calls, {} bytes over all ranks and steps",
                                axis.axis, axis.calls, axis.bytes));
    }
  }
}

void print_margins(Terminal& terminal, const std::vector<CaseReport>& reports) {
  const std::vector<MarginSpread> spreads = margin_spreads(reports);
  if (spreads.empty()) {
    return;
  }
  terminal.line("");
  terminal.line(terminal.bold(fmt::format("{:<11} {:>9} {:>9} {:>9} {:>9} {:>9}", "margins",
                                          "measured", "exactly 0", "median", "90 %", "largest")));
  for (const MarginSpread& spread : spreads) {
    terminal.line(fmt::format("{:<11} {:>9} {:>9} {:>9} {:>9} {:>9}", spread.name, spread.count,
                              spread.zeros, number(spread.median), number(spread.p90),
                              number(spread.worst.margin)));
  }
}

void print_covers(Terminal& terminal, const std::vector<CoverSummary>& covers) {
  for (const CoverSummary& cover : covers) {
    terminal.line("");
    terminal.line(fmt::format("cover {}: {}", cover.origin, describe_cover(cover)));
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const CoverSummary::Excluded& each : cover.excluded) {
      by_reason[each.reason].push_back(each.combination);
    }
    for (const auto& [reason, combinations] : by_reason) {
      terminal.line(
          fmt::format("  {}: {}, e.g. {}", reason, combinations.size(), combinations.front()));
    }
  }
}

void print_excluded(Terminal& terminal, const std::vector<ExcludedCase>& excluded) {
  if (excluded.empty()) {
    return;
  }
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const ExcludedCase& each : excluded) {
    by_reason[each.reason].push_back(each.id);
  }
  terminal.line("");
  terminal.line(terminal.bold(fmt::format("not run: {}", excluded.size())));
  for (const auto& [reason, ids] : by_reason) {
    terminal.line(fmt::format("  {}: {} cases, the first is {}", reason, ids.size(), ids.front()));
  }
}

}  // namespace meshparity
