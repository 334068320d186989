// How a kernel body meets a GPU: one index a warp or one index a block.
#pragma once
#include "parallel_impl/backend/cuda_groups.cuh"
#include "parallel_impl/backend/cuda_launch.hpp"

namespace meshparity {

template <class Kernel>
__global__ void __launch_bounds__(kBlockLanes) run_on_warps(const Kernel kernel, int groups) {
  const int index = static_cast<int>(blockIdx.x * kWarpsOfBlock + threadIdx.x / kWarpLanes);
  if (index < groups) {
    kernel(Warp{}, index);
  }
}

template <class Kernel>
__global__ void __launch_bounds__(kBlockLanes) run_on_blocks(const Kernel kernel) {
  kernel(Block{}, static_cast<int>(blockIdx.x));
}

template <class Kernel>
cudaError_t cuda_launch(const Kernel& kernel, CudaGroup group, cudaStream_t stream) {
  const int groups = kernel.groups();
  if (groups == 0) {
    return cudaSuccess;
  }
  if (group == CudaGroup::warp) {
    const int blocks = (groups + kWarpsOfBlock - 1) / kWarpsOfBlock;
    run_on_warps<<<static_cast<unsigned>(blocks), kBlockLanes, 0, stream>>>(kernel, groups);
  } else {
    run_on_blocks<<<static_cast<unsigned>(groups), kBlockLanes, 0, stream>>>(kernel);
  }
  return cudaGetLastError();
}

}  // namespace meshparity
