#include "parallel_impl/backend/cuda_device.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

namespace meshparity {

std::string kernel_name(const std::type_info& kernel) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(kernel.name(), nullptr, nullptr, &status), &std::free);
  const std::string whole = status == 0 ? name.get() : kernel.name();
  const std::size_t colon = whole.find("::");
  return colon == std::string::npos ? whole : whole.substr(colon + 2);
}

CudaDevice::CudaDevice(std::shared_ptr<CudaStream> stream, ProductKind products)
    : stream_(std::move(stream)),
      products_(products == ProductKind::fixed
                    ? nullptr
                    : std::make_unique<CudaProduct>(*stream_, products)) {}

void CudaDevice::begun(cudaError_t status, const std::type_info& kernel) {
  if (status != cudaSuccess) {
    check_cuda(status, fmt::format("launching {}", kernel_name(kernel)));
  }
  last_ = &kernel;
}

template <class T>
void CudaDevice::multiply(const Matmul<T>& product) {
  if (products_ != nullptr) {
    products_->run(product);
    last_ = &typeid(Matmul<T>);
  } else {
    begun(cuda_launch(product, kCudaGroup<Matmul<T>>, stream_->get()), typeid(Matmul<T>));
  }
}

template void CudaDevice::multiply(const Matmul<double>& product);
template void CudaDevice::multiply(const Matmul<float>& product);

// Memory without bytes has an address too: null has a meaning of its own for kernels.
void* CudaDevice::allocate(std::size_t bytes) {
  void* data = nullptr;
  check_cuda(cudaMallocAsync(&data, std::max<std::size_t>(bytes, 1), stream_->get()),
             fmt::format("allocating {} bytes on the GPU", bytes));
  return data;
}

// Called by destructors: an error shows in the next call that may throw.
void CudaDevice::free(void* data) {
  cudaFreeAsync(data, stream_->get());
}

void CudaDevice::upload(const void* from, void* to, std::size_t bytes) {
  stream_->copy(from, to, bytes, "copying to the GPU");
}

void CudaDevice::download(const void* from, void* to, std::size_t bytes) {
  const std::string doing = fmt::format("copying from the GPU, the last kernel begun being {}",
                                        last_ == nullptr ? "none" : kernel_name(*last_));
  stream_->copy(from, to, bytes, doing.c_str());
  stream_->finish(doing.c_str());
}

void CudaDevice::clear(void* data, std::size_t bytes) {
  stream_->fill(data, 0, bytes, "clearing memory of the GPU");
}

}  // namespace meshparity
