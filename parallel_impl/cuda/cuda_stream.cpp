#include "parallel_impl/cuda/cuda_stream.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "fixtures/error.hpp"
#include "parallel_impl/cuda/cuda_calls.hpp"

namespace meshparity {

void choose_device(int place) {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "counting GPUs");
  if (devices == 0) {
    throw Error("counting GPUs: there is none");
  }
  const int device = place % devices;
  check_cuda(cudaSetDevice(device), fmt::format("choosing GPU {}", device));
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaDeviceGetDefaultMemPool(&pool, device), "finding the memory pool of a GPU");
  std::uint64_t kept = UINT64_MAX;
  check_cuda(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
             "keeping memory that is given back");
}

CudaStream::CudaStream() {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

CudaStream::~CudaStream() {
  cudaStreamDestroy(stream_);
}

void CudaStream::finish(const char* doing) {
  check_cuda(cudaStreamSynchronize(stream_), doing);
}

void CudaStream::copy(const void* from, void* to, std::size_t bytes, const char* doing) {
  if (bytes > 0) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), doing);
  }
}

void CudaStream::fill(void* data, int byte, std::size_t bytes, const char* doing) {
  if (bytes > 0) {
    check_cuda(cudaMemsetAsync(data, byte, bytes, stream_), doing);
  }
}

CudaEvent::CudaEvent(unsigned flags) {
  check_cuda(cudaEventCreateWithFlags(&event_, flags), "making an event");
}

CudaEvent::~CudaEvent() {
  cudaEventDestroy(event_);
}

void CudaEvent::record(cudaStream_t stream) {
  check_cuda(cudaEventRecord(event_, stream), "marking a place in a stream");
}

void CudaEvent::hold(cudaStream_t stream) const {
  check_cuda(cudaStreamWaitEvent(stream, event_, 0), "ordering two streams");
}

bool CudaEvent::passed(const char* doing) const {
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) {
    return false;
  }
  check_cuda(status, doing);
  return true;
}

double CudaEvent::seconds_since(const CudaEvent& earlier) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "reading a timer");
  return static_cast<double>(milliseconds) / 1000;
}

PinnedMemory::~PinnedMemory() {
  cudaFreeHost(data_);
}

std::byte* PinnedMemory::room(std::size_t bytes) {
  if (bytes > bytes_) {
    check_cuda(cudaFreeHost(data_), "giving back pinned memory");
    data_ = nullptr;
    bytes_ = 0;
    void* data = nullptr;
    check_cuda(cudaMallocHost(&data, bytes), fmt::format("allocating {} pinned bytes", bytes));
    data_ = static_cast<std::byte*>(data);
    bytes_ = bytes;
  }
  return data_;
}

}  // namespace meshparity
