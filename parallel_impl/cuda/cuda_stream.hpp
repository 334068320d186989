// What a rank owns on a GPU: a stream, events, pinned memory of the host's.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace meshparity {

/// Chooses the device for the calling thread: `place` modulo their number. Memory that is given
/// back stays with the process.
void choose_device(int place);

/// Work in order. Not synchronised with any other stream.
class CudaStream {
 public:
  CudaStream();
  ~CudaStream();
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  cudaStream_t get() const { return stream_; }
  /// Returns when all that was begun has ended; throws what went wrong in it.
  void finish(const char* doing);
  /// From or to memory of the host's or the device's, in any combination.
  void copy(const void* from, void* to, std::size_t bytes, const char* doing);
  void fill(void* data, int byte, std::size_t bytes, const char* doing);

 private:
  cudaStream_t stream_ = nullptr;
};

/// A mark in a stream.
class CudaEvent {
 public:
  /// With cudaEventDefault it takes the time too.
  explicit CudaEvent(unsigned flags = cudaEventDisableTiming);
  ~CudaEvent();
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  /// After all that was begun in the stream.
  void record(cudaStream_t stream);
  /// Work of `stream` that is begun later waits for the mark.
  void hold(cudaStream_t stream) const;
  /// Whether the mark has been passed; throws what went wrong before it.
  bool passed(const char* doing) const;
  /// Seconds on the GPU's clock; both marks take the time and have been passed.
  double seconds_since(const CudaEvent& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// Host memory that a GPU copies from and to without another copy; grows, never shrinks.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  /// At least so many bytes; what was there before is lost.
  std::byte* room(std::size_t bytes);

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace meshparity
