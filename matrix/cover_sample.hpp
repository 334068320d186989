// Rows beyond a cover, drawn by a seed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix/cover.hpp"

namespace meshparity {

/// Further legal rows, none of them in the cover and none twice, each with the key of one of its
/// rows; the same for the same seed. Fewer than `count` where chance finds no more.
std::vector<CoverRow> sample_rows(const CoverProblem& problem, const Cover& cover,
                                  std::size_t count, std::uint64_t seed);

}  // namespace meshparity
