// Groups of lanes on a GPU: a warp for short rows, a block for chunks and columns. Both return the
// same bits on every lane, and the same bits in every run.
#pragma once
#include "parallel_impl/kernels/group.cuh"

namespace meshparity {

inline constexpr int kWarpLanes = 32;
inline constexpr int kWarpsOfBlock = 4;
inline constexpr int kBlockLanes = 128;

/// The greater; a NaN on the right never wins, as in the other groups.
struct Greater {
  template <class T>
  MESHPARITY_HD T operator()(T a, T b) const {
    return b > a ? b : a;
  }
};

struct Plus {
  template <class T>
  MESHPARITY_HD T operator()(T a, T b) const {
    return a + b;
  }
};

#if defined(__CUDACC__)

/// Lanes combine in pairs, 16 apart, then 8, 4, 2, 1; lane 0's result goes to all.
template <class T, class Operation>
__device__ T combine_in_warp(T value, Operation operation) {
  for (int apart = kWarpLanes / 2; apart > 0; apart /= 2) {
    value = operation(value, __shfl_down_sync(0xFFFFFFFFU, value, static_cast<unsigned>(apart)));
  }
  return __shfl_sync(0xFFFFFFFFU, value, 0);
}

/// Several warps share a block and know nothing of each other.
struct Warp {
  __device__ int lane() const { return static_cast<int>(threadIdx.x) % kWarpLanes; }
  __device__ int size() const { return kWarpLanes; }
  __device__ void sync() const { __syncwarp(); }
  template <class T>
  __device__ T sum(T value) const {
    return combine_in_warp(value, Plus());
  }
  template <class T>
  __device__ T max(T value) const {
    return combine_in_warp(value, Greater());
  }
};

/// All lanes of a block.
struct Block {
  __device__ int lane() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return kBlockLanes; }
  __device__ void sync() const { __syncthreads(); }
  template <class T>
  __device__ T sum(T value) const {
    return combine(value, Plus());
  }
  template <class T>
  __device__ T max(T value) const {
    return combine(value, Greater());
  }

 private:
  /// Each warp's lane 0 shows its warp's result; all lanes combine these from the first to the
  /// last.
  template <class T, class Operation>
  __device__ T combine(T value, Operation operation) const {
    __shared__ T shown[kWarpsOfBlock];
    const T of_warp = combine_in_warp(value, operation);
    sync();  // nobody still reads what the call before showed
    if (lane() % kWarpLanes == 0) {
      shown[lane() / kWarpLanes] = of_warp;
    }
    sync();
    T result = shown[0];
    for (int warp = 1; warp < kWarpsOfBlock; ++warp) {
      result = operation(result, shown[warp]);
    }
    return result;
  }
};

static_assert(Group<Warp> && Group<Block>);
static_assert(kWarpLanes * kWarpsOfBlock == kBlockLanes);

#endif

}  // namespace meshparity
