#include "parallel_impl/cuda/cuda_calls.hpp"

#include <fmt/format.h>

#include "fixtures/error.hpp"

namespace meshparity {

void check_cuda(cudaError_t status, std::string_view doing) {
  if (status != cudaSuccess) {
    throw Error(
        fmt::format("{}: {} ({})", doing, cudaGetErrorString(status), cudaGetErrorName(status)));
  }
}

void check_cublas(cublasStatus_t status, std::string_view doing) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(fmt::format("{}: {} ({})", doing, cublasGetStatusString(status),
                            cublasGetStatusName(status)));
  }
}

}  // namespace meshparity
