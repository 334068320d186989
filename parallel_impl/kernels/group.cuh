// The group of lanes that works on one index of a kernel: one lane on a host, a team of threads in
// tests, a warp or a block on a GPU. A kernel asks its group for nothing but what stands here.
#pragma once
#include <cmath>
#include <concepts>

#if defined(__CUDACC__)
#define MESHPARITY_HD __host__ __device__
#else
#define MESHPARITY_HD
#endif

namespace meshparity {

/// sum and max return the same value on every lane, and are barriers; every lane must call them.
template <class G>
concept Group = requires(const G& group, double wide, float narrow) {
  { group.lane() } -> std::same_as<int>;
  { group.size() } -> std::same_as<int>;
  group.sync();
  { group.sum(wide) } -> std::same_as<double>;
  { group.sum(narrow) } -> std::same_as<float>;
  { group.max(wide) } -> std::same_as<double>;
  { group.max(narrow) } -> std::same_as<float>;
};

/// A group of one: plain loops.
struct OneLane {
  MESHPARITY_HD int lane() const { return 0; }
  MESHPARITY_HD int size() const { return 1; }
  MESHPARITY_HD void sync() const {}
  template <class T>
  MESHPARITY_HD T sum(T value) const {
    return value;
  }
  template <class T>
  MESHPARITY_HD T max(T value) const {
    return value;
  }
};

/// Calls body(i) for i in [0, count), each i on one lane.
template <Group G, class Body>
MESHPARITY_HD void for_lanes(const G& group, int count, const Body& body) {
  for (int i = group.lane(); i < count; i += group.size()) {
    body(i);
  }
}

/// Elementwise kernels take one index a chunk, column sums one index a block of columns.
inline constexpr int kChunk = 256;

MESHPARITY_HD inline int chunks_of(int count) {
  return (count + kChunk - 1) / kChunk;
}

/// Calls body(i) for the elements i of chunk `index` of `count` elements.
template <Group G, class Body>
MESHPARITY_HD void for_chunk(const G& group, int index, int count, const Body& body) {
  const int first = index * kChunk;
  const int rest = count - first;
  for_lanes(group, rest < kChunk ? rest : kChunk, [&](int i) { body(first + i); });
}

}  // namespace meshparity
