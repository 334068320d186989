#include "matrix/legal_rows.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace meshparity {
namespace {

constexpr std::size_t kMoves = 4;       // of company that a combination may need
constexpr std::size_t kFrontier = 400;  // rows looked at with so many moves

CoverRow moved(CoverRow row, const Mover& mover, const CoverRow& setting) {
  for (std::size_t i = 0; i < setting.size(); ++i) {
    row[mover.factors[i]] = setting[i];
  }
  return row;
}

}  // namespace

LegalRows::LegalRows(const CoverProblem& problem, std::vector<Mover> movers)
    : problem_(problem), movers_(std::move(movers)) {}

const std::optional<std::string>& LegalRows::why_not(const CoverRow& row) {
  const auto found = known_.find(row);
  if (found != known_.end()) {
    return found->second;
  }
  return known_.emplace(row, problem_.why_not(row)).first->second;
}

bool LegalRows::keeps(const Combination& fixed, const CoverRow& row) const {
  return std::all_of(fixed.begin(), fixed.end(),
                     [&](const FactorValue& each) { return row[each.factor] == each.value; });
}

std::vector<CoverRow> LegalRows::neighbours(const CoverRow& row) const {
  std::vector<CoverRow> rows;
  for (const Mover& mover : movers_) {
    for (const auto& setting : mover.settings) {
      CoverRow next = moved(row, mover, setting);
      if (next != row) {
        rows.push_back(std::move(next));
      }
    }
  }
  return rows;
}

/// Base with the fixed values, each mover at a setting: those of the key may be several.
std::vector<CoverRow> LegalRows::bases(const Combination& fixed, const CoverRow& base) const {
  std::vector<CoverRow> rows = {base};
  for (const Mover& mover : movers_) {
    Combination mine;
    std::copy_if(fixed.begin(), fixed.end(), std::back_inserter(mine),
                 [&](const FactorValue& each) {
                   return std::count(mover.factors.begin(), mover.factors.end(), each.factor) > 0;
                 });
    if (keeps(mine, base)) {
      continue;
    }
    std::vector<CoverRow> next;
    for (const CoverRow& row : rows) {
      for (const auto& setting : mover.settings) {
        CoverRow candidate = moved(row, mover, setting);
        if (keeps(mine, candidate)) {
          next.push_back(std::move(candidate));
        }
      }
    }
    rows = std::move(next);
  }
  return rows;
}

std::optional<CoverRow> LegalRows::cheapest_legal(const Combination& fixed,
                                                  const std::vector<CoverRow>& rows) {
  const CoverRow* cheapest = nullptr;
  for (const CoverRow& row : rows) {
    const bool good = keeps(fixed, row) && !why_not(row);
    if (good && (cheapest == nullptr || problem_.cost(row) < problem_.cost(*cheapest))) {
      cheapest = &row;
    }
  }
  return cheapest == nullptr ? std::nullopt : std::optional<CoverRow>(*cheapest);
}

// For what two values need together and neither helps alone.
std::optional<CoverRow> LegalRows::by_two_moves(const Combination& fixed,
                                                const std::vector<CoverRow>& starts) {
  std::optional<CoverRow> cheapest;
  for (const CoverRow& start : starts) {
    for (const CoverRow& once : neighbours(start)) {
      for (const CoverRow& twice :
           keeps(fixed, once) ? neighbours(once) : std::vector<CoverRow>()) {
        const bool cheaper = !cheapest || problem_.cost(twice) < problem_.cost(*cheapest);
        if (cheaper && keeps(fixed, twice) && !problem_.why_not(twice)) {
          cheapest = twice;
        }
      }
    }
  }
  return cheapest;
}

std::optional<CoverRow> LegalRows::complete(const Combination& fixed, CoverRow base) {
  std::vector<CoverRow> frontier = bases(fixed, base);
  const std::vector<CoverRow> starts = frontier;
  std::set<CoverRow> seen(frontier.begin(), frontier.end());
  for (std::size_t moves = 0; moves <= kMoves && !frontier.empty(); ++moves) {
    if (auto legal = cheapest_legal(fixed, frontier)) {
      return legal;
    }
    std::vector<CoverRow> next;
    for (const CoverRow& row : frontier) {
      for (CoverRow& each : neighbours(row)) {
        const bool useful = keeps(fixed, each) && why_not(each) != why_not(row);
        if (useful && next.size() < kFrontier && seen.insert(each).second) {
          next.push_back(std::move(each));
        }
      }
    }
    frontier = std::move(next);
  }
  return by_two_moves(fixed, starts);
}

std::optional<CoverRow> LegalRows::complete_near(const Combination& fixed, const CoverRow& row) {
  const std::vector<CoverRow> starts = bases(fixed, row);
  if (auto legal = cheapest_legal(fixed, starts)) {
    return legal;
  }
  std::optional<CoverRow> cheapest;
  for (const CoverRow& start : starts) {
    const std::optional<CoverRow> found = complete_by_one(fixed, start);
    if (found && (!cheapest || problem_.cost(*found) < problem_.cost(*cheapest))) {
      cheapest = found;
    }
  }
  return cheapest;
}

}  // namespace meshparity
