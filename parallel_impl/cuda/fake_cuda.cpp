// The functions of the CUDA runtime that the program uses, over a GPU that is none.
#include <cuda_runtime_api.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "parallel_impl/cuda/fake_gpu.hpp"

namespace {

using meshparity::FakeGpu;

cudaError_t enter(const char* function) {
  return static_cast<cudaError_t>(FakeGpu::get().enter(function));
}

/// The stream that an event was recorded in; and when its turn came, if it is one that tells time.
struct FakeEvent {
  cudaStream_t stream = nullptr;
  std::shared_ptr<double> passed;
};

FakeEvent& event_of(cudaEvent_t event) {
  return *reinterpret_cast<FakeEvent*>(event);
}

bool is_pageable(const void* data) {
  return !FakeGpu::get().owns(data) && !FakeGpu::get().is_pinned(data);
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = FakeGpu::get().devices();
  const cudaError_t status = enter("cudaGetDeviceCount");
  return status == cudaSuccess && *count == 0 ? cudaErrorNoDevice : status;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "a GPU that is none");
  properties->major = 9;
  return enter("cudaGetDeviceProperties");
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return enter("cudaDriverGetVersion");
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return enter("cudaRuntimeGetVersion");
}

// Memory of 1 TB/s (1000 MHz, twice a cycle, 500 bytes).
cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMemoryClockRate ? 1'000'000 : 4000;
  return enter("cudaDeviceGetAttribute");
}

cudaError_t cudaSetDevice(int) {
  return enter("cudaSetDevice");
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) {
  return enter("cudaDeviceGetDefaultMemPool");
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, enum cudaMemPoolAttr, void*) {
  return enter("cudaMemPoolSetAttribute");
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = FakeGpu::get().make_stream();
  return enter("cudaStreamCreateWithFlags");
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  FakeGpu::get().end_stream(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  cudaError_t status = enter("cudaStreamSynchronize");
  status = status == cudaSuccess ? FakeGpu::get().drain(stream) : status;
  while (status == cudaErrorNotReady && !FakeGpu::get().is_standing_still()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    status = FakeGpu::get().drain(stream);
  }
  return status;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const cudaStream_t other = event_of(event).stream;
  FakeGpu::get().begin(
      stream, [] {}, [other] { return FakeGpu::get().drain(other) != cudaErrorNotReady; });
  return enter("cudaStreamWaitEvent");
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const bool times = (flags & cudaEventDisableTiming) == 0;
  *event = reinterpret_cast<cudaEvent_t>(
      new FakeEvent{nullptr, times ? std::make_shared<double>(0) : nullptr});
  return enter("cudaEventCreateWithFlags");
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (event_of(begin).passed == nullptr || event_of(end).passed == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  *milliseconds = static_cast<float>(*event_of(end).passed - *event_of(begin).passed);
  return enter("cudaEventElapsedTime");
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<FakeEvent*>(event);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event_of(event).stream = stream;
  if (const std::shared_ptr<double> passed = event_of(event).passed) {
    FakeGpu::get().begin(stream, [passed] { *passed = FakeGpu::get().clock(); });
  }
  return enter("cudaEventRecord");
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const cudaError_t status = enter("cudaEventQuery");
  return status == cudaSuccess ? FakeGpu::get().drain(event_of(event).stream) : status;
}

cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t) {
  const cudaError_t status = enter("cudaMallocAsync");
  *data = status == cudaSuccess ? FakeGpu::get().allocate(bytes) : nullptr;
  return status;
}

// In the order of the stream: what was begun before still has the memory.
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  FakeGpu::get().begin(stream, [data] { FakeGpu::get().release(data); });
  return enter("cudaFreeAsync");
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* data) {
  attributes->type = FakeGpu::get().owns(data) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  return enter("cudaPointerGetAttributes");
}

cudaError_t cudaMallocHost(void** data, size_t bytes) {
  const cudaError_t status = enter("cudaMallocHost");
  *data = status == cudaSuccess ? FakeGpu::get().allocate_pinned(bytes) : nullptr;
  return status;
}

cudaError_t cudaFreeHost(void* data) {
  FakeGpu::get().release_pinned(data);
  return cudaSuccess;
}

// As CUDA does: what can be paged out is read at once, all else when its turn comes.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind,
                            cudaStream_t stream) {
  const cudaError_t status = enter("cudaMemcpyAsync");
  if (status != cudaSuccess) {
    return status;
  }
  if (is_pageable(from)) {
    const auto* const begin = static_cast<const std::byte*>(from);
    FakeGpu::get().begin(stream, [to, held = std::vector<std::byte>(begin, begin + bytes)] {
      std::memcpy(to, held.data(), held.size());
    });
  } else {
    FakeGpu::get().begin(stream, [to, from, bytes] { std::memcpy(to, from, bytes); });
  }
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  const cudaError_t status = enter("cudaMemsetAsync");
  if (status == cudaSuccess) {
    FakeGpu::get().begin(stream, [data, value, bytes] { std::memset(data, value, bytes); });
  }
  return status;
}

const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorMemoryAllocation ? "out of memory" : "what CUDA says of it";
}

const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorIllegalAddress:
      return "cudaErrorIllegalAddress";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    default:
      return "cudaErrorOfAnotherName";
  }
}

}  // extern "C"
