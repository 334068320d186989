#include "matrix/cover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "matrix/combinations.hpp"
#include "matrix/greedy_cover.hpp"
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
    GreedyCover greedy = greedy_cover(problem, legal, asked, weight);
    std::vector<CoverRow> rows = std::move(greedy.rows);
    for (const GreedyCover::Excluded& each : greedy.excluded) {
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
