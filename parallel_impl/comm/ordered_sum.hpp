// The one order in which ranks' contributions are added: ((x0 + x1) + x2) + ..., elementwise, from
// the group's first rank to its last, the same for every element (algorithms.md §0.4).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel_impl/comm/collective.hpp"

namespace meshparity {

/// A range of elements of buffers that lie one a rank.
struct Reduction {
  std::span<const std::byte* const> inputs;  // by index in the group; at least one
  std::int64_t first = 0;                    // of the elements to reduce
  std::int64_t count = 0;
  ElementType type = ElementType::float64;
  ReduceOp op = ReduceOp::sum;
  ElementType accumulator = ElementType::float32;  // of sums of bfloat16
};

/// Writes elements [first, first + count) reduced to out[0, count). Sums of integers wrap; a NaN
/// anywhere makes the maximum NaN; sums of bfloat16 are rounded once, at their end, unless they run
/// in bfloat16 themselves. `out` overlaps no input.
void reduce_in_order(const Reduction& reduction, std::byte* out);

}  // namespace meshparity
