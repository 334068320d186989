// Equality of two lists of numbers, element by element, at the speed of memory: -0 equals +0 and
// is counted, NaN equals nothing.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>

namespace meshparity {

struct Equality {
  std::int64_t compared = 0;
  std::int64_t different = 0;
  std::int64_t signed_zeros = 0;  // equal, but of unlike sign
  std::int64_t first = -1;        // the first different element, and its two values
  double first_left = 0;
  double first_right = 0;
  double largest = 0;  // absolute difference; of those that are numbers

  /// Adds what was found in another part of the same lists.
  void add(const Equality& other);
};

/// `offset` is the place of the first element in the whole list. The spans are equally long.
Equality compare_elements(std::span<const double> left, std::span<const double> right,
                          std::int64_t offset);

/// A list of float64 in a file.
struct FileRange {
  std::filesystem::path file;
  std::int64_t offset = 0;  // of its first byte
};
/// Streams both files in chunks, on all cores; memory does not grow with `count`. Throws Error when
/// a file cannot be read.
Equality compare_ranges(const FileRange& left, const FileRange& right, std::int64_t count);

}  // namespace meshparity
