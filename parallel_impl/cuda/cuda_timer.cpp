#include "parallel_impl/cuda/cuda_timer.hpp"

namespace meshparity {

double CudaTimer::seconds(const std::function<void()>& work) {
  begin_.record(stream_.get());
  work();
  end_.record(stream_.get());
  stream_.finish("waiting for what is timed");
  return end_.seconds_since(begin_);
}

}  // namespace meshparity
