#include "reports/margins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace meshparity {
namespace {

// NaN compares with nothing, and would vanish from any maximum.
double rank_of(double margin) {
  return std::isnan(margin) ? std::numeric_limits<double>::infinity() : margin;
}

bool is_law(const Margin& margin) {
  return margin.statistic == kLawStatistic;
}

struct Placed {
  const Margin* margin = nullptr;
  const CaseReport* report = nullptr;
};

bool is_less(const Placed& a, const Placed& b) {
  return rank_of(a.margin->margin) < rank_of(b.margin->margin);
}

// A law that is kept says nothing of how near a case is to diverging.
bool tells_less(const Placed& a, const Placed& b) {
  const auto weight = [](const Margin& margin) {
    const double rank = rank_of(margin.margin);
    return std::pair(!is_law(margin) || rank > 1, rank);
  };
  return weight(*a.margin) < weight(*b.margin);
}

// `share` of the margins lie at or below the one returned.
double quantile(const std::vector<Placed>& sorted, double share) {
  const double place = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(std::max(0.0, place))].margin->margin;
}

MarginSpread spread_of(std::string name, std::vector<Placed> placed) {
  std::stable_sort(placed.begin(), placed.end(), is_less);
  MarginSpread spread;
  spread.name = std::move(name);
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
  const auto worst = std::max_element(placed.begin(), placed.end(), tells_less);
  return worst == placed.end() ? std::nullopt : std::optional(*worst->margin);
}

std::string place_of(const Margin& margin) {
  return fmt::format("{} {} step {} ({})", phase_name(margin.phase), margin.record, margin.step,
                     margin.statistic);
}

std::vector<MarginSpread> margin_spreads(const std::vector<CaseReport>& reports) {
  std::map<std::pair<bool, Phase>, std::vector<Placed>> kinds;
  for (const CaseReport& report : reports) {
    for (const Placed& placed : margins_of(report)) {
      kinds[{is_law(*placed.margin), placed.margin->phase}].push_back(placed);
    }
  }
  std::vector<MarginSpread> spreads;
  for (const auto& [kind, placed] : kinds) {
    const std::string name(phase_name(kind.second));
    spreads.push_back(spread_of(kind.first ? "law " + name : name, placed));
  }
  return spreads;
}

}  // namespace meshparity
