#include "reports/margins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace meshparity {
namespace {

// NaN compares with nothing, and would vanish from any maximum.
double rank_of(double margin) {
  return std::isnan(margin) ? std::numeric_limits<double>::infinity() : margin;
}

struct Placed {
  const Margin* margin = nullptr;
  const CaseReport* report = nullptr;
};

bool is_less(const Placed& a, const Placed& b) {
  return rank_of(a.margin->margin) < rank_of(b.margin->margin);
}

// `share` of the margins lie at or below the one returned.
double quantile(const std::vector<Placed>& sorted, double share) {
  const double place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(0.0, place))].margin->margin;
}

MarginSpread spread_of(Phase phase, std::vector<Placed> placed) {
  std::stable_sort(placed.begin(), placed.end(), is_less);
  MarginSpread spread;
  spread.phase = phase;
  spread.count = placed.size();
  spread.zeros = static_cast<std::size_t>(std::count_if(
      placed.begin(), placed.end(), [](const Placed& each) { return each.margin->margin == 0; }));
  spread.median = quantile(placed, 0.5);
  spread.p90 = quantile(placed, 0.9);
  spread.worst = *placed.back().margin;
  spread.worst_case = placed.back().report->case_id;
  return spread;
}

std::vector<Placed> margins_of(const CaseReport& report) {
  std::vector<Placed> placed;
  for (const CheckResult& check : report.checks) {
    for (const Margin& margin : check.margins) {
      placed.push_back({&margin, &report});
    }
  }
  return placed;
}

}  // namespace

std::optional<Margin> worst_margin(const CaseReport& report) {
  const std::vector<Placed> placed = margins_of(report);
  const auto worst = std::max_element(placed.begin(), placed.end(), is_less);
  return worst == placed.end() ? std::nullopt : std::optional(*worst->margin);
}

std::string place_of(const Margin& margin) {
  return fmt::format("{} {} step {} ({})", phase_name(margin.phase), margin.record, margin.step,
                     margin.statistic);
}

std::vector<MarginSpread> margin_spreads(const std::vector<CaseReport>& reports) {
  std::map<Phase, std::vector<Placed>> by_phase;
  for (const CaseReport& report : reports) {
    for (const Placed& placed : margins_of(report)) {
      by_phase[placed.margin->phase].push_back(placed);
    }
  }
  std::vector<MarginSpread> spreads;
  for (const auto& [phase, placed] : by_phase) {
    spreads.push_back(spread_of(phase, placed));
  }
  return spreads;
}

}  // namespace meshparity
