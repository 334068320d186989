// Rounding to bfloat16, to nearest with ties to even; the values stay in T (bounds.md §3.1, lane
// BF16: what passes from one operation to another, softmax weights, gradients of scores, weights).
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

MESHPARITY_HD inline float nearest_bfloat16(float value) {
  if (!std::isfinite(value)) {
    return value;
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits += 0x7FFFU + ((bits >> 16U) & 1U);
  bits &= 0xFFFF0000U;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

/// By way of float: the first rounding is to odd, so that it hides no tie from the second.
MESHPARITY_HD inline double nearest_bfloat16(double value) {
  float near = static_cast<float>(value);
  const double back = static_cast<double>(near);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &near, sizeof bits);
  if (std::isfinite(near) && back != value && (bits & 1U) == 0) {
    bits = std::fabs(back) < std::fabs(value) ? bits + 1U : bits - 1U;
    std::memcpy(&near, &bits, sizeof bits);
  }
  return static_cast<double>(nearest_bfloat16(near));
}

/// into = from, rounded; they may be one.
template <class T>
struct RoundedCopy {
  const T* from;
  T* into;
  int count;

  int groups() const { return chunks_of(count); }

  template <Group G>
  MESHPARITY_HD void operator()(const G& group, int chunk) const {
    for_chunk(group, chunk, count, [&](int i) { into[i] = nearest_bfloat16(from[i]); });
  }
};

}  // namespace meshparity
