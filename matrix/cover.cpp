#include "matrix/cover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "matrix/combinations.hpp"
#include "matrix/legal_rows.hpp"

namespace meshparity {
namespace {

// How much a row's ranks weigh against what it holds; the cheapest cover of these is taken.
constexpr std::array<double, 3> kWeights = {0.3, 0.6, 1.0};

std::vector<std::size_t> all_factors(const CoverProblem& problem) {
  std::vector<std::size_t> all(problem.factors.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<std::size_t> key_factors(const CoverProblem& problem) {
  std::vector<std::size_t> of_key;
  for (std::size_t f = 0; f < problem.factors.size(); ++f) {
    if (problem.factors[f].of_key) {
      of_key.push_back(f);
    }
  }
  return of_key;
}

Mover alone(const CoverProblem& problem, std::size_t factor) {
  Mover mover{{factor}, {}};
  for (std::size_t value = 0; value < problem.factors[factor].values.size(); ++value) {
    mover.settings.push_back({static_cast<int>(value)});
  }
  return mover;
}

std::vector<Mover> each_alone(const CoverProblem& problem) {
  std::vector<Mover> movers;
  for (const std::size_t factor : all_factors(problem)) {
    movers.push_back(alone(problem, factor));
  }
  return movers;
}

CoverRow part_of(const CoverRow& row, const std::vector<std::size_t>& factors) {
  CoverRow part;
  for (const std::size_t factor : factors) {
    part.push_back(row[factor]);
  }
  return part;
}

/// One greedy cover of what is asked, with one weight.
class Greedy {
 public:
  Greedy(const CoverProblem& problem, LegalRows& legal, Combinations asked, double weight)
      : problem_(problem), legal_(legal), asked_(std::move(asked)), weight_(weight) {}

  /// A combination that no legal row holds.
  struct Excluded {
    std::size_t place = 0;
    std::string reason;
  };
  const std::vector<Excluded>& excluded() const { return excluded_; }

  std::vector<CoverRow> run() {
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
      drop_spare();
      shrink();
    }
    return std::move(rows_);
  }

 private:
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

std::int64_t cost_of(const CoverProblem& problem, const std::vector<CoverRow>& rows) {
  return std::accumulate(
      rows.begin(), rows.end(), std::int64_t{0},
      [&](std::int64_t sum, const CoverRow& row) { return sum + problem.cost(row); });
}

std::size_t keys_in(const CoverProblem& problem, const std::vector<CoverRow>& rows) {
  std::set<CoverRow> keys;
  for (const CoverRow& row : rows) {
    keys.insert(part_of(row, key_factors(problem)));
  }
  return keys.size();
}

/// The first weight finds out what no row holds; the others need not try again.
Cover cheapest(const CoverProblem& problem, LegalRows& legal, Combinations asked) {
  Cover cover;
  for (const double weight : kWeights) {
    Greedy greedy(problem, legal, asked, weight);
    std::vector<CoverRow> rows = greedy.run();
    for (const Greedy::Excluded& each : greedy.excluded()) {
      asked.exclude(each.place);
      cover.excluded.push_back({asked.at(each.place), each.reason});
    }
    const std::int64_t cost = cost_of(problem, rows);
    if (cover.rows.empty() || cost < cover.cost) {
      cover.rows = std::move(rows);
      cover.cost = cost;
    }
    if (problem.strength == 1) {
      break;  // nothing is weighed
    }
  }
  cover.legal = asked.size() - cover.excluded.size();
  cover.keys = keys_in(problem, cover.rows);
  return cover;
}

/// Few choices of the factors of the key that hold all their combinations.
Mover keys_mover(const CoverProblem& problem, const std::vector<std::size_t>& of_key) {
  CoverProblem keys = problem;
  keys.cost = [](const CoverRow&) { return 1; };
  LegalRows legal(keys, each_alone(keys));
  const Combinations asked(keys.factors, of_key, keys.strength);
  Mover mover{of_key, {}};
  std::set<CoverRow> seen;
  for (const CoverRow& row : cheapest(keys, legal, asked).rows) {
    CoverRow key = part_of(row, of_key);
    if (seen.insert(key).second) {
      mover.settings.push_back(std::move(key));
    }
  }
  return mover;
}

std::vector<Mover> movers_of(const CoverProblem& problem) {
  const std::vector<std::size_t> of_key = key_factors(problem);
  if (problem.strength == 1 || of_key.size() < 2) {
    return each_alone(problem);
  }
  std::vector<Mover> movers;
  for (const std::size_t factor : all_factors(problem)) {
    if (!problem.factors[factor].of_key) {
      movers.push_back(alone(problem, factor));
    }
  }
  movers.push_back(keys_mover(problem, of_key));
  return movers;
}

}  // namespace

Cover make_cover(const CoverProblem& problem) {
  LegalRows legal(problem, movers_of(problem));
  return cheapest(problem, legal,
                  Combinations(problem.factors, all_factors(problem), problem.strength));
}

}  // namespace meshparity
