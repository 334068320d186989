// Every call of CUDA and cuBLAS is checked with what was being attempted.
#pragma once
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <string_view>

namespace meshparity {

/// Throws Error "allocating 96 bytes: out of memory (cudaErrorMemoryAllocation)" unless the call
/// succeeded. After an error in a kernel every later call of the process fails too.
void check_cuda(cudaError_t status, std::string_view doing);
void check_cublas(cublasStatus_t status, std::string_view doing);

}  // namespace meshparity
