// From the pieces of all ranks to whole records: which pieces make one copy, whether they cover the
// record exactly once, and the copy's values.
#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matrix/dump_set.hpp"
#include "matrix/placement_runs.hpp"

namespace meshparity {

struct PlacedPiece {
  int rank = 0;
  const Piece* piece = nullptr;
  std::vector<Run> runs;
};

/// The pieces of all ranks that have one coordinate on the axes over which the record is shared.
struct Copy {
  std::vector<int> coordinate;
  std::vector<const PlacedPiece*> pieces;
};

/// Elements that a copy does not hold exactly once.
struct Violation {
  enum class Kind { hole, overlap };
  Kind kind = Kind::hole;
  std::int64_t element = 0;            // the first
  std::int64_t count = 0;              // how many follow in one run, itself included
  const PlacedPiece* first = nullptr;  // overlap: the two that hold it
  const PlacedPiece* second = nullptr;
};
/// The violation at the least element. Where `mask` is not empty, holes count only where it is 1.
std::optional<Violation> first_violation(const Copy& copy, std::int64_t elements,
                                         std::span<const std::uint8_t> mask);

/// Which piece of a copy holds an element, and where.
struct Owner {
  const PlacedPiece* piece = nullptr;
  std::int64_t place = -1;
};
std::optional<Owner> owner_of(const Copy& copy, std::int64_t element);

/// Puts a piece's values into the record. Sizes fit.
template <class T>
void place_values(std::span<const Run> runs, std::span<const T> values, std::span<T> record) {
  std::size_t at = 0;
  for (const Run& run : runs) {
    const auto count = static_cast<std::size_t>(run.count);
    const auto from = values.subspan(at, count);
    std::copy(from.begin(), from.end(), record.begin() + run.begin);
    at += count;
  }
}

/// The least element of the record at which a piece has other bits; nothing when they are equal.
template <class T>
std::optional<std::int64_t> first_unequal_bits(std::span<const Run> runs, std::span<const T> values,
                                               std::span<const T> record) {
  std::optional<std::int64_t> first;
  std::size_t at = 0;
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i, ++at) {
      const T& held = record[static_cast<std::size_t>(run.begin + i)];
      const bool same =
          std::bit_cast<std::uint64_t>(values[at]) == std::bit_cast<std::uint64_t>(held);
      if (!same && (!first || run.begin + i < *first)) {
        first = run.begin + i;
      }
    }
  }
  return first;
}

}  // namespace meshparity
