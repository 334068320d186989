#include "parallel_impl/bench/gpu_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parallel_impl/backend/cuda_backend.hpp"
#include "parallel_impl/cuda/cuda_machine.hpp"

namespace meshparity {
namespace {

constexpr double kEnough = 0.02;  // seconds of launches to take the mean of
constexpr int kMostLaunches = 50;

/// Operations a second.
double rate_of(const GpuTime& time) {
  return time.flops / time.seconds;
}

/// The first launch warms up, the second says how many to take the mean of.
GpuTime timed(const GpuWork& work, CudaStream& stream) {
  CudaTimer timer(stream);
  timer.seconds(work.begin);
  const double once = timer.seconds(work.begin);
  const double wanted = once > 0 ? kEnough / once : kMostLaunches;
  const int launches = static_cast<int>(std::clamp<double>(wanted, 1, kMostLaunches));
  const double all = timer.seconds([&] {
    for (int i = 0; i < launches; ++i) {
      work.begin();
    }
  });
  return {work.kernel, all / launches, work.bytes, work.flops};
}

template <class T>
void time_table(const WorkSizes& sizes, double limit, std::vector<GpuTime>& times) {
  const auto stream = std::make_shared<CudaStream>();
  const auto backend = make_cuda_backend<T>(stream, ProductKind::fixed);
  const GpuWorkTable<T> table(*backend, sizes);
  std::vector<GpuWork> rows = table.rows();
  rows.push_back(product_work<T>(*backend, sizes.rows, sizes.width, sizes.width));
  for (const GpuWork& work : rows) {
    times.push_back(timed(work, *stream));
    times.back().limit = limit;
  }
}

struct NamedKind {
  ProductKind kind;
  const char* name;
};

/// A product of that kind, square, and as layers make it: tokens x width by width x width. Returns
/// operations a second of the former.
template <class T>
double time_products(const NamedKind& kind, const WorkSizes& sizes, int square, GpuTimes& times) {
  const auto stream = std::make_shared<CudaStream>();
  const auto backend = make_cuda_backend<T>(stream, kind.kind);
  GpuTime large = timed(product_work<T>(*backend, square, square, square), *stream);
  large.kernel = kind.name;
  GpuTime layer = timed(product_work<T>(*backend, sizes.rows, sizes.width, sizes.width), *stream);
  layer.kernel += fmt::format(" {}", kind.name);
  layer.limit = rate_of(large);
  times.limits.square.push_back(large);
  times.kernels.push_back(layer);
  return layer.limit;
}

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-";
}

std::string line_of(const GpuTime& time, double bandwidth) {
  const double moved = time.bytes / time.seconds;
  const std::string counted = time.flops > 0 ? fmt::format("{:.2f}", rate_of(time) / 1e12) : "-";
  return fmt::format("{:<34} {:>10.4f} {:>9.1f} {:>9} {:>9} {:>9}\n", time.kernel,
                     time.seconds * 1e3, moved / 1e9, share(moved, bandwidth), counted,
                     time.flops > 0 ? share(rate_of(time), time.limit) : "-");
}

}  // namespace

GpuTimes time_kernels(const WorkSizes& sizes, int square) {
  GpuTimes times;
  times.limits.bandwidth = memory_bandwidth();
  const double wide =
      time_products<double>({ProductKind::plain, "by cuBLAS in fp64"}, sizes, square, times);
  const double narrow =
      time_products<float>({ProductKind::plain, "by cuBLAS in fp32"}, sizes, square, times);
  time_products<float>({ProductKind::tf32, "by cuBLAS in tf32"}, sizes, square, times);
  time_products<float>({ProductKind::bf16, "by cuBLAS of bf16"}, sizes, square, times);
  time_table<float>(sizes, narrow, times.kernels);
  time_table<double>(sizes, wide, times.kernels);
  return times;
}

std::string format_times(const GpuTimes& times) {
  std::string text = times.limits.bandwidth > 0
                         ? fmt::format("memory moves {:.0f} GB/s at most (clock x width x 2)\n",
                                       times.limits.bandwidth / 1e9)
                         : "how much memory moves at most the driver does not tell\n";
  for (const GpuTime& product : times.limits.square) {
    text += fmt::format("a large product {}: {:.2f} TFLOP/s\n", product.kernel,
                        rate_of(product) / 1e12);
  }
  text += fmt::format("{:<34} {:>10} {:>9} {:>9} {:>9} {:>9}\n", "kernel", "ms", "GB/s",
                      "of memory", "TFLOP/s", "of cuBLAS");
  for (const GpuTime& time : times.kernels) {
    text += line_of(time, times.limits.bandwidth);
  }
  return text;
}

}  // namespace meshparity
