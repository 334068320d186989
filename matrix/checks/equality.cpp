#include "matrix/checks/equality.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "matrix/checks/value_place.hpp"

namespace meshparity {
namespace {

/// The first demanded element at which `unlike` holds.
template <class Unlike>
std::optional<std::int64_t> first_where(const RecordEvidence& record, Unlike unlike) {
  const std::int64_t elements = record.elements();
  for (std::int64_t i = 0; i < elements; ++i) {
    if (record.is_demanded(i) && unlike(static_cast<std::size_t>(i))) {
      return i;
    }
  }
  return std::nullopt;
}

template <class T>
void compare(const JudgeContext& context, const RecordEvidence& record,
             const std::vector<T>& reference, const std::vector<T>& candidate,
             CheckResult& result) {
  result.compared += record.elements();
  const auto first =
      first_where(record, [&](std::size_t i) { return !(candidate[i] == reference[i]); });
  if (!first) {
    return;
  }
  const auto at = static_cast<std::size_t>(*first);
  Finding finding = finding_about(record, check_of(record.row.record));
  add_place(finding, context.evidence.spec, record, record.copies.front(), *first);
  add_values(finding, static_cast<double>(reference[at]), static_cast<double>(candidate[at]),
             kDoubleMantissa);
  finding.ratio = std::numeric_limits<double>::infinity();
  finding.text = fmt::format("not equal: reference {}, candidate {}", reference[at], candidate[at]);
  finding.derivation = "exact: no rounding reaches this record";
  result.findings.push_back(std::move(finding));
}

Finding non_finite_finding(const JudgeContext& context, const RecordEvidence& record,
                           std::int64_t element) {
  Finding finding = finding_about(record, check_of(record.row.record));
  add_place(finding, context.evidence.spec, record, record.copies.front(), element);
  return finding;
}

Finding wild_finding(const JudgeContext& context, const RecordEvidence& record,
                     const RecordValues& values, std::int64_t element) {
  const auto at = static_cast<std::size_t>(element);
  Finding finding = non_finite_finding(context, record, element);
  add_values(finding, values.reference[at], values.candidate[at], kDoubleMantissa);
  finding.ratio = std::numeric_limits<double>::infinity();
  finding.text =
      fmt::format("{} where the reference is {:.6g}", values.candidate[at], values.reference[at]);
  finding.derivation = "a value that is not finite is judged before any statistic";
  return finding;
}

Finding lost_finding(const JudgeContext& context, const RecordEvidence& record,
                     const RecordValues& values, std::int64_t element) {
  Finding finding = non_finite_finding(context, record, element);
  finding.gravity = Verdict::inconclusive;
  finding.text = fmt::format("the reference itself is {}: nothing to compare with",
                             values.reference[static_cast<std::size_t>(element)]);
  return finding;
}

}  // namespace

bool check_finite(const JudgeContext& context, const RecordEvidence& record,
                  const RecordValues& values, CheckResult& result) {
  const auto lost =
      first_where(record, [&](std::size_t i) { return !std::isfinite(values.reference[i]); });
  const auto wild = first_where(record, [&](std::size_t i) {
    return !std::isfinite(values.candidate[i]) && std::isfinite(values.reference[i]);
  });
  if (wild) {
    result.findings.push_back(wild_finding(context, record, values, *wild));
  } else if (lost) {
    result.findings.push_back(lost_finding(context, record, values, *lost));
  }
  return !wild && !lost;
}

void check_equal(const JudgeContext& context, const RecordEvidence& record,
                 const RecordValues& values, CheckResult& result) {
  compare(context, record, values.reference, values.candidate, result);
}

void check_equal_integers(const JudgeContext& context, const RecordEvidence& record,
                          const std::vector<std::int64_t>& candidate, CheckResult& result) {
  compare(context, record, reference_integers(context.reference, record.row), candidate, result);
}

}  // namespace meshparity
