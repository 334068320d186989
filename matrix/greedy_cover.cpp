#include "matrix/greedy_cover.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace meshparity {
namespace {

/// One greedy cover of what is asked, with one weight.
class Greedy {
 public:
  Greedy(const CoverProblem& problem, LegalRows& legal, Combinations asked, double weight)
      : problem_(problem), legal_(legal), asked_(std::move(asked)), weight_(weight) {}

  GreedyCover run() {
    const CoverRow defaults(problem_.factors.size(), 0);
    for (auto open = asked_.next_open(0); open; open = asked_.next_open(*open)) {
      const Combination combination = asked_.at(*open);
      const std::optional<CoverRow> start = legal_.complete(combination, defaults);
      if (!start) {
        asked_.exclude(*open);
        excluded_.push_back({*open, reason_of(combination, defaults)});
        continue;
      }
      rows_.push_back(problem_.strength == 1 ? *start : improved(combination, *start));
      asked_.add(rows_.back());
    }
    if (problem_.strength > 1) {
      while (take_back()) {
      }
      drop_spare();
      shrink();
    }
    return {std::move(rows_), std::move(excluded_)};
  }

 private:
  using Excluded = GreedyCover::Excluded;

  double score(const CoverRow& row) const {
    return static_cast<double>(asked_.gain(row)) /
           std::pow(static_cast<double>(problem_.cost(row)), weight_);
  }

  /// Moves factor by factor to what holds more for its ranks, the combination kept.
  CoverRow improved(const Combination& fixed, CoverRow row) {
    for (bool better = true; better;) {
      better = false;
      double best = score(row);
      CoverRow next = row;
      for (const CoverRow& candidate : candidates(fixed, row)) {
        const double found = score(candidate);
        if (found > best) {
          best = found;
          next = candidate;
          better = true;
        }
      }
      row = next;
    }
    return row;
  }

  /// Legal rows one move away, or with the company that the move needs.
  std::vector<CoverRow> candidates(const Combination& fixed, const CoverRow& row) {
    std::vector<CoverRow> found;
    for (const Mover& mover : legal_.movers()) {
      for (const auto& setting : mover.settings) {
        Combination wanted = fixed;
        for (std::size_t i = 0; i < setting.size(); ++i) {
          wanted.push_back({mover.factors[i], setting[i]});
        }
        CoverRow next = row;
        for (std::size_t i = 0; i < setting.size(); ++i) {
          next[mover.factors[i]] = setting[i];
        }
        const bool contradicts =
            std::any_of(fixed.begin(), fixed.end(),
                        [&](const FactorValue& each) { return next[each.factor] != each.value; });
        if (contradicts || next == row) {
          continue;
        }
        if (!legal_.why_not(next)) {
          found.push_back(std::move(next));
        } else if (auto with_company = legal_.complete_by_one(wanted, next)) {
          found.push_back(std::move(*with_company));
        }
      }
    }
    return found;
  }

  /// What needs more company than a search from the defaults finds may stand near a row that is
  /// there by now, or even in it. True when something did.
  bool take_back() {
    std::vector<Excluded> left;
    for (Excluded& each : excluded_) {
      const std::optional<CoverRow> row = near_row(each.place);
      if (row || asked_.is_held(each.place)) {
        asked_.take_back(each.place);
      } else {
        left.push_back(std::move(each));
      }
      if (row) {
        rows_.push_back(*row);
        asked_.add(*row);
      }
    }
    const bool found = left.size() < excluded_.size();
    excluded_ = std::move(left);
    return found;
  }

  /// From the rows that hold all of a combination's values but one; nothing when one holds it.
  std::optional<CoverRow> near_row(std::size_t place) {
    const Combination combination = asked_.at(place);
    std::optional<CoverRow> cheapest;
    for (const CoverRow& row : asked_.is_held(place) ? std::vector<CoverRow>() : rows_) {
      const auto missing =
          std::count_if(combination.begin(), combination.end(),
                        [&](const FactorValue& each) { return row[each.factor] != each.value; });
      const auto found = missing == 1 ? legal_.complete_near(combination, row) : std::nullopt;
      if (found && (!cheapest || problem_.cost(*found) < problem_.cost(*cheapest))) {
        cheapest = found;
      }
    }
    return cheapest;
  }

  std::string reason_of(const Combination& combination, CoverRow row) {
    for (const FactorValue& each : combination) {
      row[each.factor] = each.value;
    }
    return legal_.why_not(row).value_or("no key of the cover holds both");
  }

  std::vector<std::size_t> by_cost() const {
    std::vector<std::size_t> order(rows_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return problem_.cost(rows_[a]) > problem_.cost(rows_[b]);
    });
    return order;
  }

  /// Rows whose combinations all stand in others, the dearest first.
  void drop_spare() {
    std::vector<bool> dropped(rows_.size(), false);
    for (const std::size_t i : by_cost()) {
      if (asked_.is_spare(rows_[i])) {
        asked_.remove(rows_[i]);
        dropped[i] = true;
      }
    }
    std::vector<CoverRow> kept;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!dropped[i]) {
        kept.push_back(rows_[i]);
      }
    }
    rows_ = std::move(kept);
  }

  /// Without the row only what it alone holds is open: a cheaper row that gains as much holds it.
  void shrink() {
    for (const std::size_t i : by_cost()) {
      CoverRow& row = rows_[i];
      asked_.remove(row);
      const std::size_t needed = asked_.gain(row);
      for (const CoverRow& candidate : candidates({}, row)) {
        if (problem_.cost(candidate) < problem_.cost(row) && asked_.gain(candidate) == needed) {
          row = candidate;
        }
      }
      asked_.add(row);
    }
  }

  const CoverProblem& problem_;
  LegalRows& legal_;
  Combinations asked_;
  double weight_;
  std::vector<CoverRow> rows_;
  std::vector<Excluded> excluded_;
};

}  // namespace

GreedyCover greedy_cover(const CoverProblem& problem, LegalRows& legal, Combinations asked,
                         double weight) {
  return Greedy(problem, legal, std::move(asked), weight).run();
}

}  // namespace meshparity
