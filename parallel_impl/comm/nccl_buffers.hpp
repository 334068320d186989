// What one call of NCCL needs on the GPU: copies of buffers that lie in the host's memory, and
// scratch. Given back in the order of the stream.
#pragma once
#include <cstddef>
#include <vector>

#include "parallel_impl/comm/collective.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"

namespace meshparity {

class GpuBuffers {
 public:
  explicit GpuBuffers(CudaStream& stream) : stream_(stream) {}
  ~GpuBuffers();
  GpuBuffers(const GpuBuffers&) = delete;
  GpuBuffers& operator=(const GpuBuffers&) = delete;

  /// The same request with every buffer on the GPU.
  Collective on_gpu(const Collective& request);
  /// Outputs that lie in the host's memory get what came; ends when they have it.
  void bring_back();
  Payload scratch(std::int64_t count, ElementType type);
  /// A copy that may outlive the caller's buffer.
  Payload copy_of(const Payload& payload);

 private:
  struct Back {
    Payload from;
    Payload to;
  };
  CudaStream& stream_;
  std::vector<void*> held_;
  std::vector<Back> back_;
};

/// Bytes of a payload, and one that begins at `first` and has `count` elements.
std::size_t bytes_of(const Payload& payload);
Payload part_of(const Payload& payload, std::int64_t first, std::int64_t count);

}  // namespace meshparity
