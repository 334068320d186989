#include "matrix/placement_runs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace meshparity {
namespace {

void append(std::vector<Run>& runs, Run run) {
  if (run.count == 0) {
    return;
  }
  if (!runs.empty() && runs.back().begin + runs.back().count == run.begin) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

/// A box, one of whose dims may take its indices from a list.
struct Region {
  const Box& box;
  int listed_dim = -1;
  std::span<const std::int64_t> listed;

  bool is_listed(std::size_t dim) const { return static_cast<int>(dim) == listed_dim; }
  bool is_full(std::size_t dim, std::int64_t size) const {
    return !is_listed(dim) && box.start[dim] == 0 && box.extent[dim] == size;
  }
  std::int64_t index(std::size_t dim, std::int64_t i) const {
    return is_listed(dim) ? listed[static_cast<std::size_t>(i)] : box.start[dim] + i;
  }
};

Shape strides_of(std::span<const std::int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return strides;
}

/// The innermost dim that is walked: all dims behind it are whole, so that its indices lie in one
/// block of `strides[dim]` elements each.
std::size_t walked_dim(const Region& region, std::span<const std::int64_t> shape) {
  std::size_t dim = shape.size() - 1;
  while (dim > 0 && region.is_full(dim, shape[dim])) {
    --dim;
  }
  return dim;
}

void append_row(const Region& region, std::size_t dim, Run block, std::vector<Run>& runs) {
  const std::int64_t extent = region.box.extent[dim];
  if (!region.is_listed(dim)) {
    append(runs, {block.begin + region.box.start[dim] * block.count, extent * block.count});
    return;
  }
  for (std::int64_t i = 0; i < extent; ++i) {
    append(runs, {block.begin + region.index(dim, i) * block.count, block.count});
  }
}

void append_region(const Region& region, std::span<const std::int64_t> shape,
                   std::vector<Run>& runs) {
  if (element_count(region.box) == 0) {
    return;
  }
  const Shape strides = strides_of(shape);
  const std::size_t inner = walked_dim(region, shape);
  Shape counter(inner, 0);  // over the dims before `inner`, last fastest
  for (;;) {
    std::int64_t base = 0;
    for (std::size_t d = 0; d < inner; ++d) {
      base += region.index(d, counter[d]) * strides[d];
    }
    append_row(region, inner, {base, strides[inner]}, runs);
    std::size_t d = inner;
    while (d > 0 && ++counter[d - 1] == region.box.extent[d - 1]) {
      counter[--d] = 0;
    }
    if (d == 0) {
      return;
    }
  }
}

/// Elements [lo, hi) of the concatenated runs.
std::vector<Run> slice(const std::vector<Run>& runs, std::int64_t lo, std::int64_t hi) {
  std::vector<Run> part;
  std::int64_t place = 0;
  for (const Run& run : runs) {
    const std::int64_t from = std::max(lo - place, std::int64_t{0});
    const std::int64_t to = std::min(hi - place, run.count);
    if (from < to) {
      append(part, {run.begin + from, to - from});
    }
    place += run.count;
  }
  return part;
}

std::optional<std::string> box_fault(const Box& box, std::span<const std::int64_t> shape) {
  if (box.start.size() != shape.size() || box.extent.size() != shape.size()) {
    return fmt::format("a box of {} dims in a record of {}", box.start.size(), shape.size());
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool inside = box.start[d] >= 0 && box.extent[d] >= 0 && box.start[d] <= shape[d] &&
                        box.extent[d] <= shape[d] - box.start[d];
    if (!inside) {
      const auto end = static_cast<std::uint64_t>(box.start[d]) +
                       static_cast<std::uint64_t>(box.extent[d]);  // may wrap, never overflows
      return fmt::format("dim {}: the box [{}, {}) leaves the record's [0, {})", d, box.start[d],
                         static_cast<std::int64_t>(end), shape[d]);
    }
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const BoxPlacement& placement,
                                    std::span<const std::int64_t> shape) {
  for (const Box& box : placement.boxes) {
    if (const auto fault = box_fault(box, shape)) {
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const RowsPlacement& placement,
                                    std::span<const std::int64_t> shape) {
  if (placement.dim < 0 || static_cast<std::size_t>(placement.dim) >= shape.size() ||
      static_cast<std::size_t>(placement.dim) >= placement.box.extent.size()) {
    return fmt::format("rows of dim {} in a record of {} dims", placement.dim, shape.size());
  }
  const auto dim = static_cast<std::size_t>(placement.dim);
  for (const std::int64_t row : placement.rows) {
    if (row < 0 || row >= shape[dim]) {
      return fmt::format("dim {}: row {} is outside [0, {})", dim, row, shape[dim]);
    }
  }
  if (placement.box.extent[dim] != static_cast<std::int64_t>(placement.rows.size())) {
    return fmt::format("dim {}: {} rows for an extent of {}", dim, placement.rows.size(),
                       placement.box.extent[dim]);
  }
  Box rest = placement.box;
  rest.start[dim] = 0;
  rest.extent[dim] = std::min(rest.extent[dim], shape[dim]);  // rows may repeat: coverage tells
  return box_fault(rest, shape);
}

std::optional<std::string> fault_of(const FlatPlacement& placement,
                                    std::span<const std::int64_t> shape) {
  if (const auto fault = box_fault(placement.box, shape)) {
    return fault;
  }
  const std::int64_t size = element_count(placement.box);
  if (!(0 <= placement.lo && placement.lo <= placement.hi && placement.hi <= size)) {
    return fmt::format("the flat range [{}, {}) leaves its box of {} elements", placement.lo,
                       placement.hi, size);
  }
  return std::nullopt;
}

void expand(const BoxPlacement& placement, std::span<const std::int64_t> shape,
            std::vector<Run>& runs) {
  for (const Box& box : placement.boxes) {
    append_region({box, -1, {}}, shape, runs);
  }
}

void expand(const RowsPlacement& placement, std::span<const std::int64_t> shape,
            std::vector<Run>& runs) {
  append_region({placement.box, placement.dim, placement.rows}, shape, runs);
}

void expand(const FlatPlacement& placement, std::span<const std::int64_t> shape,
            std::vector<Run>& runs) {
  std::vector<Run> all;
  append_region({placement.box, -1, {}}, shape, all);
  runs = slice(all, placement.lo, placement.hi);
}

}  // namespace

std::optional<std::string> placement_fault(const Placement& placement,
                                           std::span<const std::int64_t> shape) {
  return std::visit([&](const auto& kind) { return fault_of(kind, shape); }, placement);
}

std::vector<Run> placement_runs(const Placement& placement, std::span<const std::int64_t> shape) {
  std::vector<Run> runs;
  std::visit([&](const auto& kind) { expand(kind, shape, runs); }, placement);
  return runs;
}

std::int64_t place_in_runs(std::span<const Run> runs, std::int64_t element) {
  std::int64_t place = 0;
  for (const Run& run : runs) {
    if (element >= run.begin && element < run.begin + run.count) {
      return place + (element - run.begin);
    }
    place += run.count;
  }
  return -1;
}

std::int64_t element_of_runs(std::span<const Run> runs, std::int64_t place) {
  for (const Run& run : runs) {
    if (place < run.count) {
      return run.begin + place;
    }
    place -= run.count;
  }
  return -1;
}

std::int64_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    count *= size;
  }
  return count;
}

Shape index_of(std::int64_t element, std::span<const std::int64_t> shape) {
  Shape index(shape.size(), 0);
  for (std::size_t d = shape.size(); d > 0; --d) {
    index[d - 1] = element % shape[d - 1];
    element /= shape[d - 1];
  }
  return index;
}

std::string index_text(std::span<const std::int64_t> index) {
  return fmt::format("[{}]", fmt::join(index, ", "));
}

}  // namespace meshparity
