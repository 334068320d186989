#include "parallel_impl/comm/nccl_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parallel_impl/cuda/cuda_calls.hpp"

namespace meshparity {
namespace {

bool lies_on_gpu(const void* data) {
  cudaPointerAttributes attributes{};
  check_cuda(cudaPointerGetAttributes(&attributes, data), "asking where a buffer lies");
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace

std::size_t bytes_of(const Payload& payload) {
  return static_cast<std::size_t>(payload.count) * element_bytes(payload.type);
}

Payload part_of(const Payload& payload, std::int64_t first, std::int64_t count) {
  return {payload.data + first * static_cast<std::int64_t>(element_bytes(payload.type)), count,
          payload.type};
}

GpuBuffers::~GpuBuffers() {
  for (void* const data : held_) {
    cudaFreeAsync(data, stream_.get());
  }
}

Payload GpuBuffers::scratch(std::int64_t count, ElementType type) {
  void* data = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes(type);
  check_cuda(cudaMallocAsync(&data, std::max<std::size_t>(bytes, 1), stream_.get()),
             fmt::format("allocating {} bytes for a collective", bytes));
  held_.push_back(data);
  return {static_cast<std::byte*>(data), count, type};
}

Payload GpuBuffers::copy_of(const Payload& payload) {
  const Payload copy = scratch(payload.count, payload.type);
  stream_.copy(payload.data, copy.data, bytes_of(payload), "copying a message");
  return copy;
}

Collective GpuBuffers::on_gpu(const Collective& request) {
  Collective moved = request;
  const bool one_buffer =
      request.input.data == request.output.data && request.input.count == request.output.count;
  if (request.output.count > 0 && !lies_on_gpu(request.output.data)) {
    moved.output = copy_of(request.output);
    back_.push_back({moved.output, request.output});
  }
  if (one_buffer) {
    moved.input.data = moved.output.data;
  } else if (request.input.count > 0 && !lies_on_gpu(request.input.data)) {
    moved.input = copy_of(request.input);
  }
  return moved;
}

void GpuBuffers::bring_back() {
  for (const Back& back : back_) {
    stream_.copy(back.from.data, back.to.data, bytes_of(back.to), "bringing back a result");
  }
  if (!back_.empty()) {
    stream_.finish("bringing back a result");
  }
}

}  // namespace meshparity
