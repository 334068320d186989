// Margins of many cases seen together: near 1 a bound is tight, all at 0 it measures nothing.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "matrix/verdict.hpp"

namespace meshparity {

/// The largest margin of a case (NaN counts as the largest), of a law that is kept only where
/// nothing else was measured; nothing when nothing was.
std::optional<Margin> worst_margin(const CaseReport& report);
/// "grad layer0.mlp.up.weight step 0 (F)"
std::string place_of(const Margin& margin);

/// How the margins of one phase are spread over all cases; those of laws stand apart.
struct MarginSpread {
  std::string name;  // "grad", "law param"
  std::size_t count = 0;
  std::size_t zeros = 0;  // exactly equal
  double median = 0;
  double p90 = 0;
  Margin worst;
  std::string worst_case;
};
/// One a phase that has margins, in the order of phases, then one a phase that has laws.
std::vector<MarginSpread> margin_spreads(const std::vector<CaseReport>& reports);

}  // namespace meshparity
