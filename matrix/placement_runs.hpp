// A placement expanded to contiguous runs of the record's row-major order. Coverage, assembly and
// the search for a place all work on runs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"

namespace meshparity {

using Shape = std::vector<std::int64_t>;

/// Elements [begin, begin + count) of the record, consecutive in the piece as well.
struct Run {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  bool operator==(const Run&) const = default;
};

/// What is wrong with a placement in a record of this shape, as one phrase; nothing when it fits.
std::optional<std::string> placement_fault(const Placement& placement,
                                           std::span<const std::int64_t> shape);

/// In the piece's own order; neighbours that continue each other are one run. The placement fits.
std::vector<Run> placement_runs(const Placement& placement, std::span<const std::int64_t> shape);

/// Place of a global element in the piece, or -1.
std::int64_t place_in_runs(std::span<const Run> runs, std::int64_t element);
/// Global element at a place of the piece; `place` is within it.
std::int64_t element_of_runs(std::span<const Run> runs, std::int64_t place);

std::int64_t elements_of(std::span<const std::int64_t> shape);
/// Row-major index of a linear element.
Shape index_of(std::int64_t element, std::span<const std::int64_t> shape);
/// "[12, 17]"
std::string index_text(std::span<const std::int64_t> index);

}  // namespace meshparity
