// Figures of a GPU: each kernel's time and its share of what memory and products can do, which is
// its memory's clock and width, and a large product of cuBLAS in the same run.
#pragma once
#include <string>
#include <vector>

#include "parallel_impl/bench/gpu_work.hpp"
#include "parallel_impl/cuda/cuda_timer.hpp"

namespace meshparity {

struct GpuTime {
  std::string kernel;
  double seconds = 0;  // of one launch, the mean of some
  double bytes = 0;
  double flops = 0;
  double limit = 0;  // operations a second of products of its kind; 0: it counts none
};

struct GpuLimits {
  double bandwidth = 0;         // bytes a second; 0: unknown
  std::vector<GpuTime> square;  // a large product of each kind
};

struct GpuTimes {
  GpuLimits limits;
  std::vector<GpuTime> kernels;
};

/// `square`: rows, depth and columns of the large products. On the GPU that was chosen.
GpuTimes time_kernels(const WorkSizes& sizes, int square);

/// A line a kernel, in the order of the table.
std::string format_times(const GpuTimes& times);

}  // namespace meshparity
