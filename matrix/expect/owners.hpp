// Who holds which part of a parameter, by matrix's own formulas (algorithms.md §1, §2), for data,
// tensor and sequence parallelism.
#pragma once
#include <cstdint>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"

namespace meshparity::expect {

/// A model laid out over the ranks of a case; both outlive it.
struct Layout {
  const CaseSpec& spec;
  const ModelSpec& model;
};

/// What a rank holds of a parameter, its gradient and its moments.
struct ParamPart {
  Box box;                     // of the logical parameter
  Box dumped;                  // of the box: where several ranks hold it, this one's share of rows
  std::int64_t in_memory = 0;  // elements of the box with the vocabulary's padding
  bool cut = false;            // over tp; else whole on every rank
  int copies = 1;              // ranks of tp in a row that hold the same cut part
  int copy = 0;                // which of them this is
  bool partial = false;  // whole, and its gradient is the sum over tp of what ranks contribute
  /// Ranks whose contributions make the gradient of one element.
  int contributors = 1;
};
/// Throws Error for a name that has no formula: a new parameter brings its own.
ParamPart part_of(const ParamSpec& param, const Layout& layout, int rank);

/// Rows [first, first + count) of share `index`; where they do not divide, the first shares hold
/// one more (contracts.md §2). Of 7 rows on 3 ranks: 0 to 2, 3 and 4, 5 and 6.
struct Rows {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
Rows share_of(std::int64_t rows, int shares, int index);

}  // namespace meshparity::expect
