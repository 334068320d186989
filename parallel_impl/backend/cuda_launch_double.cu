// Every kernel body for double, on warps and blocks of a GPU.
#include "parallel_impl/backend/cuda_launch.cuh"
#include "parallel_impl/backend/every_kernel.hpp"

namespace meshparity {

template class BackendOn<double, EveryKernel>;

}  // namespace meshparity
