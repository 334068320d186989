#include "matrix/checks/bounded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/checks/value_place.hpp"
#include "matrix/payload_noise.hpp"
#include "matrix/statistics.hpp"

namespace meshparity {
namespace {

/// What is compared of one record.
struct Compared {
  const JudgeContext& context;
  const Lane& lane;
  const RecordEvidence& record;
  const Comparand& data;
  const std::vector<double>& candidate;
  const Companion& companion;
  const Statistics& found;
};

std::string place_words(const Ratio& ratio, const RecordSpec& record) {
  const std::int64_t width = record.column_block;
  switch (ratio.statistic) {
    case 'R':
      return fmt::format("row {}", ratio.block);
    case 'C':
      return width == 1 ? fmt::format("column {}", ratio.block)
                        : fmt::format("columns {} to {}", ratio.block * width,
                                      (ratio.block + 1) * width - 1);
    case 'X':
      return "one element";
    case 'G':
      return "scale of the whole";
    default:
      return "the whole";
  }
}

std::string others_text(const Statistics& found) {
  std::string text;
  for (const Ratio& ratio : found.ratios) {
    text += fmt::format("{}{} {:.3g}/{:.3g}", text.empty() ? "" : ", ", ratio.statistic,
                        ratio.value, ratio.limit.value);
  }
  return text;
}

std::string derivation_text(const Compared& all, const Limit& limit) {
  const Statistics& found = all.found;
  const double size = found.reference_norm / std::sqrt(static_cast<double>(all.candidate.size()));
  return fmt::format(
      "limit {}; sigma {:.3g}, {:.3g} of |ref| ({} noisy runs; {}; n_eff {:.3g}); error/limit in "
      "sigma: {}; relative Frobenius error {:.3g}",
      derivation(limit), found.sigma, found.sigma / size, all.companion.samples, all.lane.origin,
      all.companion.effective, others_text(found), found.error_norm / found.reference_norm);
}

Finding finding_at(const Compared& all, std::int64_t element, std::string text) {
  Finding finding = finding_about(all.record, check_of(all.record.row.record));
  const auto at = static_cast<std::size_t>(element);
  add_place(finding, all.context.evidence.spec, all.record, all.record.copies.front(), element);
  add_values(finding, all.data.reference[at], all.candidate[at], all.lane.mantissa_bits);
  finding.text = std::move(text);
  return finding;
}

Finding zero_finding(const Compared& all) {
  Finding finding =
      finding_at(all, *all.found.zero,
                 "an element differs that no rounding reaches: it is exact in every noisy run");
  finding.ratio = std::numeric_limits<double>::infinity();
  finding.derivation =
      fmt::format("Z: sigma is exactly 0 there ({} noisy runs)", all.companion.samples);
  return finding;
}

Finding limit_finding(const Compared& all, const Ratio& ratio) {
  const std::int64_t element =
      worst_element(ratio, all.data, all.companion, all.record.row.record.column_block);
  Finding finding =
      finding_at(all, element,
                 fmt::format("{}: error {:.3g} sigma, limit {:.3g} sigma ({:.3g} x over)",
                             place_words(ratio, all.record.row.record), ratio.value,
                             ratio.limit.value, ratio.margin()));
  finding.ratio = ratio.margin();
  finding.limit = ratio.limit.value;
  finding.derivation = derivation_text(all, ratio.limit);
  return finding;
}

Finding unclear_finding(const Compared& all, std::string text) {
  Finding finding = finding_about(all.record, check_of(all.record.row.record));
  finding.gravity = Verdict::inconclusive;
  finding.text = std::move(text);
  finding.derivation = derivation_text(all, all.found.ratios.front().limit);
  return finding;
}

/// The ratio with a limit whose margin is the largest; null when no statistic has a limit.
const Ratio* worst_limited(const Statistics& found) {
  const Ratio* worst = nullptr;
  for (const Ratio& ratio : found.ratios) {
    const bool limited = !std::isnan(ratio.limit.value);
    if (limited && (worst == nullptr || !(ratio.margin() <= worst->margin()))) {
      worst = &ratio;
    }
  }
  return worst;
}

void add_margin(const Compared& all, const Ratio& ratio, CheckResult& result) {
  const RecordSpec& record = all.record.row.record;
  const double margin = all.found.zero ? std::numeric_limits<double>::infinity() : ratio.margin();
  result.margins.push_back(
      {record.name, record.phase, all.record.row.step, ratio.statistic, margin, all.found.sees});
  if (margin > kNear && margin <= 1) {
    result.notes.push_back(fmt::format("near: {} at {:.3g} of its limit ({}, {})",
                                       record_text(all.record.key()), margin, ratio.statistic,
                                       derivation(ratio.limit)));
  }
}

void judge_statistics(const Compared& all, CheckResult& result) {
  const Ratio* worst = worst_limited(all.found);
  const bool unlimited =
      std::any_of(all.found.ratios.begin(), all.found.ratios.end(),
                  [](const Ratio& ratio) { return std::isnan(ratio.limit.value); });
  if (worst != nullptr) {
    add_margin(all, *worst, result);
  }
  if (all.found.zero) {
    result.findings.push_back(zero_finding(all));
  } else if (worst != nullptr && !(worst->margin() <= 1)) {
    result.findings.push_back(limit_finding(all, *worst));
  } else if (unlimited) {
    result.findings.push_back(unclear_finding(all, "too few noisy runs for a limit"));
  } else if (all.found.blind && !all.record.row.record.zero_expected) {
    result.findings.push_back(unclear_finding(
        all, "the limit of the whole would accept a record of zeros, and none is expected"));
  }
}

/// What one record is measured with.
struct Measure {
  Companion companion;
  Lane lane;
};

/// Where gradients travelled rounded, the reference's own rounding is far below the noise, and the
/// projection counts as soon as in any other lane.
Measure measure_of(const JudgeContext& context, const RecordEvidence& record) {
  const auto [step, phase, name] = record.key();
  Measure measure = {context.companions->read(step, phase, name), *context.lane};
  if (context.payload != nullptr && context.payload->has(step, phase, name)) {
    const Companion payload = context.payload->read(step, phase, name);
    measure.companion = with_payload(std::move(measure.companion), payload, measure.lane.factor);
    if (payload.total > 0) {
      measure.lane.projection_guard = lane_of(Precision::fp32).projection_guard;
      measure.lane.origin += "; gradcomm_bf16 companions in quadrature";
    }
  }
  return measure;
}

}  // namespace

void check_bounded(const JudgeContext& context, const RecordEvidence& record,
                   const RecordValues& values, CheckResult& result) {
  std::vector<double> error(values.candidate.size());
  for (std::size_t i = 0; i < error.size(); ++i) {
    const bool demanded = record.is_demanded(static_cast<std::int64_t>(i));
    error[i] = demanded ? values.candidate[i] - values.reference[i] : 0;
  }
  const RecordSpec& spec = record.row.record;
  const auto [companion, lane] = measure_of(context, record);
  const Comparand data{values.reference, error};
  const Statistics found = statistics(data, companion, spec.column_block, lane);
  result.compared += record.elements();
  judge_statistics({context, lane, record, data, values.candidate, companion, found}, result);
}

}  // namespace meshparity
