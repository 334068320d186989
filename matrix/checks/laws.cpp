#include "matrix/checks/laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fixtures/error.hpp"
#include "matrix/checks/value_place.hpp"
#include "matrix/rebased_reference.hpp"

namespace meshparity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What the elements of one record say to one law.
struct Outcome {
  std::int64_t worst = 0;       // the element with the largest share of its limit
  double margin = -1;           // that share; infinite where the candidate is not a number
  std::int64_t over = 0;        // elements beyond their limit
  std::int64_t undecided = -1;  // the first element whose demand is not finite
  double sees = kInfinity;  // the smallest relative change of all that some limit would not take
};

/// Error over limit; 0 where both are 0.
double share_of(double error, double limit) {
  if (error == 0) {
    return 0;
  }
  const double share = error / limit;
  return std::isnan(share) ? kInfinity : share;
}

Outcome outcome_of(const RecordEvidence& record, const LawValues& demand,
                   const std::vector<double>& candidate) {
  Outcome outcome;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    if (!record.is_demanded(element)) {
      continue;
    }
    const double expected = demand.expected[i];
    const double limit = demand.limit[i];
    if (!std::isfinite(expected) || !std::isfinite(limit)) {
      outcome.undecided = outcome.undecided < 0 ? element : outcome.undecided;
      continue;
    }
    const double error = std::abs(candidate[i] - expected);
    outcome.over += error <= limit ? 0 : 1;
    const double share = share_of(error, limit);
    if (share > outcome.margin) {
      outcome.margin = share;
      outcome.worst = element;
    }
    if (expected != 0) {
      outcome.sees = std::min(outcome.sees, limit / std::abs(expected));
    }
  }
  return outcome;
}

/// One law about one record of the candidate.
class LawCheck {
 public:
  LawCheck(const JudgeContext& context, const RecordEvidence& record, const LawRow& law,
           const std::vector<double>& candidate)
      : context_(context),
        record_(record),
        law_(law),
        candidate_(candidate),
        demand_(context.rebased->values(law)) {
    if (demand_.expected.size() != candidate.size()) {
      throw UsageError(fmt::format("law {} of {} has {} elements, the record {}", law.law,
                                   record_text(record.key()), demand_.expected.size(),
                                   candidate.size()));
    }
  }

  void judge(CheckResult& result) const {
    const Outcome outcome = outcome_of(record_, demand_, candidate_);
    result.compared += record_.elements();
    if (outcome.margin >= 0) {
      result.margins.push_back({law_.record, law_.phase, law_.step, kLawStatistic, outcome.margin,
                                std::isfinite(outcome.sees) ? outcome.sees : 0});
    }
    if (outcome.over > 0) {
      result.findings.push_back(broken(outcome));
    } else if (outcome.undecided >= 0) {
      result.findings.push_back(undecided(outcome.undecided));
    }
  }

 private:
  Finding finding_at(std::int64_t element) const {
    Finding finding = finding_about(record_, check_of(record_.row.record));
    finding.basis = Basis::own_step;
    finding.derivation = fmt::format("law {}: {}", law_.law, law_.derivation);
    add_place(finding, context_.evidence.spec, record_, record_.copies.front(), element);
    return finding;
  }

  Finding broken(const Outcome& outcome) const {
    const auto at = static_cast<std::size_t>(outcome.worst);
    const double error = std::abs(candidate_[at] - demand_.expected[at]);
    Finding finding = finding_at(outcome.worst);
    add_values(finding, demand_.expected[at], candidate_[at],
               context_.lane ? context_.lane->mantissa_bits : kDoubleMantissa);
    finding.limit = demand_.limit[at];
    finding.ratio = outcome.margin;
    finding.text = fmt::format(
        "law {}: error {:.3g}, limit {:.3g} ({:.3g} x over); {} of {} elements over", law_.law,
        error, finding.limit, outcome.margin, outcome.over, record_.elements());
    return finding;
  }

  Finding undecided(std::int64_t element) const {
    Finding finding = finding_at(element);
    finding.gravity = Verdict::inconclusive;
    finding.text = fmt::format(
        "law {}: what the candidate dumped of this step gives {} with limit {} there, which "
        "decides nothing",
        law_.law, demand_.expected[static_cast<std::size_t>(element)],
        demand_.limit[static_cast<std::size_t>(element)]);
    return finding;
  }

  const JudgeContext& context_;
  const RecordEvidence& record_;
  const LawRow& law_;
  const std::vector<double>& candidate_;
  LawValues demand_;
};

}  // namespace

void check_law(const JudgeContext& context, const RecordEvidence& record, const LawRow& law,
               const std::vector<double>& candidate, CheckResult& result) {
  LawCheck(context, record, law, candidate).judge(result);
}

}  // namespace meshparity
