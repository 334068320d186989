#include "matrix/second_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fixtures/error.hpp"
#include "matrix/equal_records.hpp"

namespace meshparity {
namespace {

constexpr const char* kCheck = "repeatable";

CheckResult empty_check() {
  CheckResult check;
  check.check = kCheck;
  return check;
}

CheckResult only_finding(Verdict gravity, const LaunchOutcome& outcome, std::string text) {
  Finding finding;
  finding.gravity = gravity;
  finding.check = kCheck;
  finding.rank = outcome.rank;
  finding.coordinate = outcome.coordinate;
  finding.text = std::move(text);
  CheckResult check = empty_check();
  check.verdict = gravity;
  check.findings.push_back(std::move(finding));
  return check;
}

/// "ended", "died: rank 1 gave up".
std::string describe(const LaunchOutcome& outcome) {
  return outcome.finished ? "ended" : "died: " + outcome.what;
}

// Why they died is not compared: who waits for whom when a rank dies is a matter of timing.
CheckResult both_died(const LaunchOutcome& second) {
  CheckResult check = empty_check();
  check.notes.push_back(fmt::format("run again alone it {}", describe(second)));
  return check;
}

bool is_same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool is_same_piece(const DumpSet& left, const DumpSet& right, const HeldPiece& a,
                   const HeldPiece& b) {
  const ElementType type = a.piece->type;
  const bool may_hold_nan = type == ElementType::float64 || type == ElementType::float32;
  if (a.rank != b.rank || !may_hold_nan) {
    return false;
  }
  const std::vector<double> x = left.readers().at(a.rank).read(*a.piece);
  const std::vector<double> y = right.readers().at(b.rank).read(*b.piece);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same);
}

/// Equal piece by piece where NaN equals NaN: a run that repeats its NaNs repeats.
bool is_same_record(const DumpSet& left, const DumpSet& right, const RecordKey& key) {
  const auto& a = left.pieces(key);
  const auto& b = right.pieces(key);
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [&](const HeldPiece& x, const HeldPiece& y) { return is_same_piece(left, right, x, y); });
}

bool begins_with_nans(const Finding& finding) {
  return finding.has_values && std::isnan(finding.reference) && std::isnan(finding.candidate);
}

CheckResult equal_where_nans_are(const DumpSet& left, const DumpSet& right) {
  CheckResult check = check_equal_dumps(left, right);
  if (std::none_of(check.findings.begin(), check.findings.end(), begins_with_nans)) {
    return check;
  }
  const std::int64_t compared = check.compared;
  check = check_equal_dumps(
      left, right, [&](const RecordKey& key) { return !is_same_record(left, right, key); });
  check.compared = compared;
  check.evidence = true;
  return check;
}

CheckResult compared(const CandidateRun& first, const CandidateRun& second) {
  const DumpSet left(first.dump);
  const DumpSet right(second.dump);
  require_readable(left);
  require_readable(right);
  CheckResult check = equal_where_nans_are(left, right);
  check.check = kCheck;
  for (Finding& finding : check.findings) {
    finding.check = kCheck;
    finding.text = fmt::format("not repeatable: run again alone, {}", finding.text);
  }
  if (check.findings.empty()) {
    check.notes.push_back("run again alone at level all it gave the same bits");
  }
  return check;
}

}  // namespace

bool needs_second_run(const EndedCase& ended, const CaseReport& report) {
  return report.verdict != Verdict::conforms && ended.reference.failure.empty() &&
         !ended.outcome.never_began;
}

CheckResult check_repeatable(const CandidateRun& first, const CandidateRun& second) {
  if (second.outcome.never_began) {
    return only_finding(Verdict::inconclusive, second.outcome,
                        "the second run never began: " + second.outcome.what);
  }
  if (first.outcome.finished != second.outcome.finished) {
    const LaunchOutcome& dead = first.outcome.finished ? second.outcome : first.outcome;
    return only_finding(Verdict::diverges, dead,
                        fmt::format("not repeatable: the first run {}; run again alone it {}",
                                    describe(first.outcome), describe(second.outcome)));
  }
  if (!first.outcome.finished) {
    return both_died(second.outcome);
  }
  try {
    return compared(first, second);
  } catch (const std::exception& error) {
    return only_finding(Verdict::inconclusive, {},
                        fmt::format("the two runs could not be compared: {}", error.what()));
  }
}

void add_second_run(const EndedCase& ended, const RunRequest& request, const RunDir& dir,
                    LaunchSettings settings, CaseReport& report) {
  const std::string& id = ended.planned.id;
  settings.folder = settings.folder / id;
  settings.side_by_side = 1;
  std::filesystem::create_directories(settings.folder);
  Job job = worker_job(ended.planned, request, dir.again(id));
  job.level = Level::all;
  CandidateRun second{job.out, {}};
  const auto end = [&](std::size_t, const LaunchOutcome& outcome, double) {
    second.outcome = with_coordinate(outcome, ended.planned.spec);
  };
  run_jobs({job}, settings, {[](std::size_t) {}, end, [](const std::string&) {}});
  const CandidateRun first{dir.dump(id), with_coordinate(ended.outcome, ended.planned.spec)};
  report.checks.push_back(check_repeatable(first, second));
  report.verdict = std::max(report.verdict, report.checks.back().verdict);
}

}  // namespace meshparity
