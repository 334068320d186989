// A sum of doubles without rounding, in any order: an integer wide enough for every exponent,
// rounded once at the end (contracts.md §6 (ii)). Partial sums merge by adding their limbs.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace meshparity {

class ExactSum {
 public:
  void add(double value);
  /// Limbs and counts of NaN and infinities, ready to be added to another's, elementwise.
  std::span<std::int64_t> mergeable();
  /// The sum rounded to nearest; NaN for a NaN or opposed infinities among the terms.
  double value() const;

  static constexpr int kLimbs = 68;
  static constexpr int kWords = kLimbs + 3;

 private:
  // Limb i counts multiples of 2^(32 i - 1088); it keeps 32 bits and room for 2^29 additions.
  static constexpr int kLowestExponent = -1088;
  static constexpr std::int64_t kAdditions = std::int64_t{1} << 29;
  static void carry(std::span<std::int64_t, kLimbs> limbs);
  std::span<std::int64_t, kLimbs> limbs() { return std::span(words_).first<kLimbs>(); }

  std::array<std::int64_t, kWords> words_{};  // limbs, NaN, +infinity, -infinity
  std::int64_t additions_ = 0;
};

}  // namespace meshparity
