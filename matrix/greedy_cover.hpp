// A cover row by row: each takes the first combination that is still open and as many others as its
// ranks are worth.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "matrix/combinations.hpp"
#include "matrix/legal_rows.hpp"

namespace meshparity {

struct GreedyCover {
  /// A combination that no legal row holds.
  struct Excluded {
    std::size_t place = 0;
    std::string reason;
  };
  std::vector<CoverRow> rows;
  std::vector<Excluded> excluded;
};

/// Of what is asked. A row's gain counts against the `weight`-th power of its cost.
GreedyCover greedy_cover(const CoverProblem& problem, LegalRows& legal, Combinations asked,
                         double weight);

}  // namespace meshparity
