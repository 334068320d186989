// The device of BackendOn for a GPU: memory, launches on one stream, products by cuBLAS or by our
// own kernel. A rank has its own.
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <typeinfo>

#include "parallel_impl/backend/cuda_launch.hpp"
#include "parallel_impl/backend/cuda_product.hpp"
#include "parallel_impl/cuda/cuda_calls.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"

namespace meshparity {

/// "AttentionForward<double>"
std::string kernel_name(const std::type_info& kernel);

class CudaDevice {
 public:
  CudaDevice(std::shared_ptr<CudaStream> stream, ProductKind products);

  template <class Kernel>
  void launch(const Kernel& kernel) {
    begun(cuda_launch(kernel, kCudaGroup<Kernel>, stream_->get()), typeid(Kernel));
  }
  void launch(const Matmul<double>& product) { multiply(product); }
  void launch(const Matmul<float>& product) { multiply(product); }

  void* allocate(std::size_t bytes);
  void free(void* data);
  void upload(const void* from, void* to, std::size_t bytes);
  /// Waits for all work begun before; an error in any of it is thrown here.
  void download(const void* from, void* to, std::size_t bytes);
  void clear(void* data, std::size_t bytes);

 private:
  void begun(cudaError_t status, const std::type_info& kernel);
  template <class T>
  void multiply(const Matmul<T>& product);

  std::shared_ptr<CudaStream> stream_;
  std::unique_ptr<CudaProduct> products_;  // null: our own kernel
  const std::type_info* last_ = nullptr;   // of the kernels begun
};

}  // namespace meshparity
