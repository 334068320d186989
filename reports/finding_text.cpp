#include "reports/finding_text.hpp"

#include <fmt/format.h>

namespace meshparity {
namespace {

// "forward layer0.attn.out step 0 micro-batch 1 (check forward, order 17)"
std::string describe_record(const Finding& finding) {
  if (finding.record.empty()) {
    return finding.check;
  }
  std::string place = fmt::format("{} {}", phase_name(finding.phase), finding.record);
  if (finding.step >= 0) {
    place += fmt::format(" step {}", finding.step);
  }
  if (finding.mb >= 0) {
    place += fmt::format(" micro-batch {}", finding.mb);
  }
  return place + (finding.order >= 0
                      ? fmt::format(" (check {}, order {})", finding.check, finding.order)
                      : fmt::format(" (check {})", finding.check));
}

// ", rank 3 (dp0 tp1)"
std::string describe_rank(const Finding& finding) {
  std::string rank = finding.rank >= 0 ? fmt::format(", rank {}", finding.rank) : "";
  if (!finding.coordinate.empty()) {
    rank += fmt::format(" ({})", finding.coordinate);
  }
  return rank;
}

std::string describe_index(const Finding& finding) {
  std::string index = fmt::format("index ({})", fmt::join(finding.index, ", "));
  if (!finding.piece_index.empty()) {
    index +=
        fmt::format(", element ({}) of the rank's piece", fmt::join(finding.piece_index, ", "));
  }
  return index;
}

std::string describe_values(const Finding& finding) {
  std::string values =
      fmt::format("reference {:.17g}, candidate {:.17g}", finding.reference, finding.candidate);
  if (finding.error_ulp != 0 || finding.error_relative != 0) {  // copies and equalities have none
    values += fmt::format(", error {:.4g} ULP, {:.4g} relative", finding.error_ulp,
                          finding.error_relative);
  }
  return values;
}

std::string describe_limit(const Finding& finding) {
  if (finding.limit == 0 && finding.ratio == 0) {
    return finding.derivation;
  }
  return fmt::format("limit {:.6g}, ratio {:.4g}{}{}", finding.limit, finding.ratio,
                     finding.derivation.empty() ? "" : ": ", finding.derivation);
}

}  // namespace

std::vector<std::string> describe_finding(const Finding& finding) {
  std::vector<std::string> lines = {describe_record(finding) + describe_rank(finding)};
  if (!finding.text.empty()) {
    lines.front() += ": " + finding.text;
  }
  if (!finding.index.empty()) {
    lines.push_back(describe_index(finding));
  }
  if (finding.has_values) {
    lines.push_back(describe_values(finding));
  }
  if (!finding.derivation.empty() || finding.limit != 0) {
    lines.push_back(describe_limit(finding));
  }
  if (!finding.follows_from.empty()) {
    lines.push_back(fmt::format("follows from {}", finding.follows_from));
  }
  return lines;
}

std::string subject_of(const CaseReport& report) {
  return report.relation.empty()
             ? report.case_id
             : fmt::format("{} = {} ({})", report.case_id, report.partner, report.relation);
}

std::string outcome_word(const CaseReport& report) {
  return report.not_run.empty() ? std::string(verdict_name(report.verdict)) : "not run";
}

Tally tally(const std::vector<CaseReport>& reports) {
  Tally tally;
  for (const CaseReport& report : reports) {
    tally.not_run += report.not_run.empty() ? 0 : 1;
    if (report.not_run.empty()) {
      tally.conform += report.verdict == Verdict::conforms ? 1 : 0;
      tally.diverge += report.verdict == Verdict::diverges ? 1 : 0;
      tally.inconclusive += report.verdict == Verdict::inconclusive ? 1 : 0;
    }
  }
  return tally;
}

std::string describe_tally(const Tally& tally) {
  std::vector<std::string> parts;
  if (tally.diverge > 0) {
    parts.push_back(fmt::format("{} diverge", tally.diverge));
  }
  if (tally.inconclusive > 0) {
    parts.push_back(fmt::format("{} inconclusive", tally.inconclusive));
  }
  parts.push_back(fmt::format("{} conform", tally.conform));
  if (tally.not_run > 0) {
    parts.push_back(fmt::format("{} not run", tally.not_run));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace meshparity
