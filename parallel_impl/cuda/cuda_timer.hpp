// The time that a GPU takes for work in one stream, by its own clock.
#pragma once
#include <functional>

#include "parallel_impl/cuda/cuda_stream.hpp"

namespace meshparity {

class CudaTimer {
 public:
  explicit CudaTimer(CudaStream& stream) : stream_(stream) {}

  /// Seconds that what `work` begins in the stream takes; returns when it has ended.
  double seconds(const std::function<void()>& work);

 private:
  CudaStream& stream_;
  CudaEvent begin_{cudaEventDefault};
  CudaEvent end_{cudaEventDefault};
};

}  // namespace meshparity
