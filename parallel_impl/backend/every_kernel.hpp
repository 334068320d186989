// Where cuda_launch is defined, BackendOn over this device makes it exist for every operation that
// a backend has: there is no second list of kernels.
#pragma once
#include <cstddef>

#include "parallel_impl/backend/backend_on.hpp"
#include "parallel_impl/backend/cuda_launch.hpp"

namespace meshparity {

/// Is never run: taking the function's address is what counts.
class EveryKernel {
 public:
  template <class Kernel>
  void launch(const Kernel& kernel) {
    cudaError_t (*volatile begin)(const Kernel&, CudaGroup, cudaStream_t) = &cuda_launch<Kernel>;
    begin(kernel, CudaGroup::block, nullptr);
  }
  void* allocate(std::size_t) { return nullptr; }
  void free(void*) {}
  void upload(const void*, void*, std::size_t) {}
  void download(const void*, void*, std::size_t) {}
  void clear(void*, std::size_t) {}
};

}  // namespace meshparity
