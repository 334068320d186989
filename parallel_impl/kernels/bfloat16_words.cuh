// bfloat16 as it travels: the upper half of a float's bits.
#pragma once
#include "parallel_impl/kernels/bfloat16.cuh"

namespace meshparity {

/// A number of 8 significant bits as it lies in memory. No arithmetic: sums run in a wider type.
struct Bfloat16 {
  unsigned short bits = 0;
};

MESHPARITY_HD inline float widened(Bfloat16 value) {
  return __builtin_bit_cast(float, static_cast<unsigned>(value.bits) << 16U);
}

/// Rounded once; what exceeds the largest number becomes infinite, and a NaN stays one.
MESHPARITY_HD inline Bfloat16 rounded_to_bfloat16(float value) {
  const unsigned quiet = value != value ? 0x40U : 0U;  // whatever else is cut off
  const unsigned bits = __builtin_bit_cast(unsigned, nearest_bfloat16(value));
  return {static_cast<unsigned short>((bits >> 16U) | quiet)};
}
MESHPARITY_HD inline Bfloat16 rounded_to_bfloat16(double value) {
  return rounded_to_bfloat16(static_cast<float>(nearest_bfloat16(value)));
}

/// into = from, rounded
template <class T>
struct RoundToBfloat16 {
  const T* from;
  Bfloat16* into;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = rounded_to_bfloat16(from[i]); });
  }
};

/// into = from
template <class T>
struct WidenBfloat16 {
  const Bfloat16* from;
  T* into;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = static_cast<T>(widened(from[i])); });
  }
};

}  // namespace meshparity
