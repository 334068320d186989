#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "fixtures/error.hpp"
#include "matrix/shard.hpp"
#include "reports/finding_text.hpp"
#include "reports/margins.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kFindingsShown = 12;

// A bar would end the cell, a newline the row.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

std::string facts(const RunPlan& plan, const std::vector<CaseReport>& reports) {
  std::string page = fmt::format("# Parity report: {}\n\n", describe_tally(tally(reports)));
  page += fmt::format("| | |\n| --- | --- |\n| command | `{}` |\n| started | {} |\n",
                      cell(plan.command), plan.started);
  page += fmt::format("| commit | {} |\n| machine | {}, {} cores |\n| level | {} |\n", plan.commit,
                      cell(plan.cpu), plan.cores, plan.level);
  if (!plan.shard.empty()) {
    page += fmt::format("| shard | {} |\n", plan.shard);
  }
  if (!plan.text.empty()) {
    page += fmt::format("| text | {} |\n", cell(plan.text));
  }
  return page;
}

std::string row_of(const CaseReport& report) {
  const std::optional<Margin> worst = worst_margin(report);
  return fmt::format("| `{}` | {} | {} | {} | {:.2f} |\n", report.case_id, outcome_word(report),
                     worst ? fmt::format("{:.3g}", worst->margin) : "-",
                     worst ? place_of(*worst) : "-", report.seconds);
}

std::string table_of_cases(const RunPlan& plan, const std::vector<CaseReport>& reports) {
  std::map<std::string, const CaseReport*> by_id;
  for (const CaseReport& report : reports) {
    if (report.relation.empty()) {
      by_id[report.case_id] = &report;
    }
  }
  std::string page =
      "\n## Cases\n\nA margin is error over limit: 1 is the limit.\n\n"
      "| case | verdict | worst margin | where | seconds |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const std::string& id : plan.cases) {
    const auto found = by_id.find(id);
    page += found != by_id.end() ? row_of(*found->second)
                                 : fmt::format("| `{}` | no result | - | - | - |\n", id);
  }
  return page;
}

std::string row_of(const RelatedCases& planned, const CaseReport* report) {
  return fmt::format("| {} | `{}` | `{}` | {} | {} |\n", planned.relation, planned.first,
                     planned.partner, report != nullptr ? outcome_word(*report) : "no result",
                     report != nullptr && !report->checks.empty()
                         ? fmt::format("{}", report->checks.front().compared)
                         : "-");
}

std::string table_of_relations(const RunPlan& plan, const std::vector<CaseReport>& reports) {
  if (plan.relations.empty()) {
    return "";
  }
  std::string page =
      "\n## Exact relations\n\nEvery element compared is equal, or the relation is broken.\n\n"
      "| relation | case | must equal | verdict | elements |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const RelatedCases& planned : plan.relations) {
    const auto found = std::find_if(reports.begin(), reports.end(), [&](const CaseReport& report) {
      return report.relation == planned.relation && report.case_id == planned.first;
    });
    page += row_of(planned, found != reports.end() ? &*found : nullptr);
  }
  return page;
}

std::string checks_of(const CaseReport& report) {
  std::string page = "\n| check | verdict | compared | findings |\n| --- | --- | --- | --- |\n";
  for (const CheckResult& check : report.checks) {
    page += fmt::format("| {} | {} | {} | {} |\n", check.check,
                        check.evidence ? verdict_name(check.verdict) : "no evidence",
                        check.compared, check.findings.size());
  }
  for (const CheckResult& check : report.checks) {
    for (const std::string& note : check.notes) {
      page += fmt::format("\n{}: {}\n", check.check, note);
    }
  }
  return page;
}

std::string finding_section(const Finding& finding) {
  const std::vector<std::string> lines = describe_finding(finding);
  std::string page = fmt::format("\n* {}\n", lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    page += fmt::format("  * {}\n", lines[i]);
  }
  return page;
}

std::string section_of(const CaseReport& report) {
  std::string page = fmt::format("\n### {} ({})\n", subject_of(report), outcome_word(report));
  const Finding* cause = first_cause(report);
  std::size_t shown = 0;
  if (cause != nullptr) {
    page += "\nFirst cause:\n" + finding_section(*cause) + "\nAll findings:\n";
  }
  std::size_t total = 0;
  for (const CheckResult& check : report.checks) {
    total += check.findings.size();
    for (const Finding& finding : check.findings) {
      page += shown++ < kFindingsShown ? finding_section(finding) : "";
    }
  }
  if (total > kFindingsShown) {
    page += fmt::format("\n{} findings more are in `results.jsonl`.\n", total - kFindingsShown);
  }
  page += checks_of(report);
  return page + fmt::format("\nAgain: `{}`\n", report.replay);
}

std::string table_of_margins(const std::vector<CaseReport>& reports) {
  const std::vector<MarginSpread> spreads = margin_spreads(reports);
  if (spreads.empty()) {
    return "\n## Margins\n\nNone was measured.\n";
  }
  std::string page =
      "\n## Margins\n\n"
      "| phase | measured | exactly 0 | median | 90 % | largest | where |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const MarginSpread& spread : spreads) {
    page += fmt::format("| {} | {} | {} | {:.3g} | {:.3g} | {:.3g} | {} in `{}` |\n", spread.name,
                        spread.count, spread.zeros, spread.median, spread.p90, spread.worst.margin,
                        place_of(spread.worst), spread.worst_case);
  }
  return page;
}

std::string covers_of(const RunPlan& plan) {
  std::string page = plan.covers.empty() ? "" : "\n## Covers\n";
  for (const CoverSummary& cover : plan.covers) {
    page += fmt::format("\n{}: {}.\n", cover.origin, describe_cover(cover));
    page += cover.excluded.empty() ? "" : "\n| not covered | reason |\n| --- | --- |\n";
    for (const CoverSummary::Excluded& each : cover.excluded) {
      page += fmt::format("| {} | {} |\n", cell(each.combination), cell(each.reason));
    }
  }
  return page;
}

std::string table_of_excluded(const RunPlan& plan) {
  if (plan.excluded.empty()) {
    return "";
  }
  std::string page = "\n## Not run\n\n| case | reason |\n| --- | --- |\n";
  for (const ExcludedCase& excluded : plan.excluded) {
    page += fmt::format("| `{}` | {} |\n", excluded.id, cell(excluded.reason));
  }
  return page;
}

}  // namespace

std::string render_markdown(const RunPlan& whole, const std::vector<CaseReport>& reports) {
  const RunPlan plan = own_part(whole);
  std::string page =
      facts(plan, reports) + (plan.cases.empty() ? "" : table_of_cases(plan, reports));
  page += table_of_relations(plan, reports);
  std::string sections;
  for (const CaseReport& report : reports) {
    if (report.not_run.empty() && report.verdict != Verdict::conforms) {
      sections += section_of(report);
    }
  }
  page += sections.empty() ? "" : "\n## Cases that do not conform\n" + sections;
  return page + table_of_margins(reports) + covers_of(plan) + table_of_excluded(plan);
}

void write_markdown(const RunDir& dir) {
  std::ofstream out(dir.report(), std::ios::binary);
  out << render_markdown(read_plan(dir.plan()), read_results(dir.results()));
  if (!out.flush()) {
    throw Error(fmt::format("writing {}", dir.report().string()));
  }
}

}  // namespace meshparity
