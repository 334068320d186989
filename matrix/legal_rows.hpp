// Finds legal rows near a given one: what a combination of values needs beside it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "matrix/cover.hpp"

namespace meshparity {

/// Factors that change together, and what they can be set to. A factor of its own is one with a
/// setting a value; the factors of the key take the keys as their settings.
struct Mover {
  std::vector<std::size_t> factors;
  std::vector<CoverRow> settings;
};

/// FNV-1a over the values.
struct RowHash {
  std::size_t operator()(const CoverRow& row) const {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const int value : row) {
      hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x100000001B3U;
    }
    return hash;
  }
};

class LegalRows {
 public:
  LegalRows(const CoverProblem& problem, std::vector<Mover> movers);

  /// Nothing when the row is legal. Each row is asked once.
  const std::optional<std::string>& why_not(const CoverRow& row);

  /// The legal row with these values that departs least from `base`: fewest movers moved, then the
  /// cheapest. Nothing when moves that change what is wrong lead to none, nor any two moves.
  std::optional<CoverRow> complete(const Combination& fixed, CoverRow base);

  /// The cheapest legal row with these values that is one move away.
  std::optional<CoverRow> complete_by_one(const Combination& fixed, const CoverRow& row) {
    return cheapest_legal(fixed, neighbours(row));
  }

  /// The cheapest legal row with these values that is `row` with them, or one move from it.
  std::optional<CoverRow> complete_near(const Combination& fixed, const CoverRow& row);

  const std::vector<Mover>& movers() const { return movers_; }

 private:
  bool keeps(const Combination& fixed, const CoverRow& row) const;
  std::vector<CoverRow> neighbours(const CoverRow& row) const;
  std::optional<CoverRow> cheapest_legal(const Combination& fixed,
                                         const std::vector<CoverRow>& rows);
  std::vector<CoverRow> bases(const Combination& fixed, const CoverRow& base) const;
  std::optional<CoverRow> by_two_moves(const Combination& fixed,
                                       const std::vector<CoverRow>& starts);

  const CoverProblem& problem_;
  std::vector<Mover> movers_;
  std::unordered_map<CoverRow, std::optional<std::string>, RowHash> known_;
};

}  // namespace meshparity
