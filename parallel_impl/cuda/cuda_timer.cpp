#include "parallel_impl/cuda/cuda_timer.hpp"

#include "parallel_impl/cuda/cuda_calls.hpp"

namespace meshparity {

CudaTimer::CudaTimer(CudaStream& stream) : stream_(stream) {
  check_cuda(cudaEventCreate(&begin_), "making a timer's event");
  check_cuda(cudaEventCreate(&end_), "making a timer's event");
}

CudaTimer::~CudaTimer() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}

double CudaTimer::seconds(const std::function<void()>& work) {
  check_cuda(cudaEventRecord(begin_, stream_.get()), "beginning to time");
  work();
  check_cuda(cudaEventRecord(end_, stream_.get()), "ending to time");
  stream_.finish("waiting for what is timed");
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading a timer");
  return static_cast<double>(milliseconds) / 1000;
}

}  // namespace meshparity
