// The error of one record in units of the noise that its companions show: as a whole (F), by row
// (R), by column (C), by element (X), along the reference (G), and where there is no noise (Z).
// bounds.md §3.2.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fixtures/companions.hpp"
#include "matrix/bound.hpp"

namespace meshparity {

/// error / sigma of the worst block of one statistic.
struct Ratio {
  char statistic = 'F';
  double value = 0;
  std::int64_t block = 0;  // row, block of columns, or element
  Limit limit;
  double margin() const { return value / limit.value; }  // 1 is the limit; NaN without a limit
};

struct Statistics {
  std::vector<Ratio> ratios;         // those that apply; F first
  std::optional<std::int64_t> zero;  // Z: first element that errs where nothing may
  double sigma = 0;                  // root mean square over the record
  double reference_norm = 0;
  double error_norm = 0;
  bool blind = false;  // F's limit would accept a zeroed record
  double sees = 0;     // smallest uniform relative change that would be flagged

  /// The ratio of largest margin; a NaN counts as the largest. Never empty.
  const Ratio& worst() const;
};

/// Reference and error (candidate minus reference) over the companion's rows x columns. Throws
/// Error when the sizes differ.
struct Comparand {
  std::span<const double> reference;
  std::span<const double> error;
};
Statistics statistics(const Comparand& data, const Companion& companion, std::int64_t column_block,
                      const Lane& lane);

/// The element of the ratio's block with the largest error in its own sigma.
std::int64_t worst_element(const Ratio& ratio, const Comparand& data, const Companion& companion,
                           std::int64_t column_block);

}  // namespace meshparity
