// Covers: few rows in which every legal combination of `strength` values stands together. Knows
// nothing of cases; rows are what factors and a rule of legality make them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace meshparity {

/// Something that a row chooses a value of. The first value is the default: the cheapest company.
struct Factor {
  std::string name;
  std::vector<std::string> values;
  bool of_key = false;  // the references needed are as many as there are unlike choices of these
};

/// A value of every factor, by number.
using CoverRow = std::vector<int>;

struct CoverProblem {
  std::vector<Factor> factors;
  std::size_t strength = 2;  // 1: each value alone, all else at its default if that is legal
  /// Why a row cannot be; nothing when it can. Called often: rows are asked once each.
  std::function<std::optional<std::string>(const CoverRow& row)> why_not;
  std::function<std::int64_t(const CoverRow& row)> cost;  // its ranks
};

struct FactorValue {
  std::size_t factor = 0;
  int value = 0;
  bool operator==(const FactorValue&) const = default;
};
using Combination = std::vector<FactorValue>;

struct ExcludedCombination {
  Combination combination;
  std::string reason;
};

struct Cover {
  std::vector<CoverRow> rows;
  std::size_t legal = 0;  // combinations, all of them in some row
  std::vector<ExcludedCombination> excluded;
  std::size_t keys = 0;  // unlike choices of the factors of the key
  std::int64_t cost = 0;
};

/// Greedy and deterministic (after Cohen et al., "The AETG system", 1997): the same problem gives
/// the same rows. The factors of the key are covered among themselves first, by few choices, and
/// every row takes one of these.
Cover make_cover(const CoverProblem& problem);

}  // namespace meshparity
