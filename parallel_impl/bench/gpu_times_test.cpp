// Figures over a GPU that is none, whose clock counts launches: each takes a millisecond.
#include "parallel_impl/bench/gpu_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/kernel_names.hpp"
#include "parallel_impl/bench/gpu_steps.hpp"
#include "parallel_impl/cuda/cuda_machine.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr WorkSizes kSmall{24, 8, 16, 2, 2, 4, 3};

const GpuTimes& small_times() {
  static const GpuTimes times = [] {
    FakeGpu::get().reset();
    return time_kernels(kSmall, 8);
  }();
  return times;
}

const GpuTime& time_of(const std::string& kernel) {
  for (const GpuTime& time : small_times().kernels) {
    if (time.kernel == kernel) {
      return time;
    }
  }
  throw std::out_of_range(kernel);
}

std::vector<std::string> kernels_without_figures() {
  std::set<std::string> timed;
  for (const GpuTime& time : small_times().kernels) {
    timed.insert(time.kernel);
  }
  std::vector<std::string> missing;
  for (const std::string& kernel : kernel_names_of(MESHPARITY_KERNELS)) {
    for (const char* scalar : {"<double>", "<float>"}) {
      if (!timed.contains(kernel + scalar)) {
        missing.push_back(kernel + scalar);
      }
    }
  }
  return missing;
}

TEST(GpuTimes, EveryKernelHasFiguresForBothTypes) {
  EXPECT_THAT(kernels_without_figures(), IsEmpty());
  for (const GpuTime& time : small_times().kernels) {
    EXPECT_GT(time.bytes, 0) << time.kernel;
  }
}

TEST(GpuTimes, ALaunchsTimeIsTheMeanOfSome) {
  EXPECT_DOUBLE_EQ(time_of("AdamW<float>").seconds, 1e-3);
  EXPECT_DOUBLE_EQ(time_of("Matmul<double>").seconds, 1e-3);
  EXPECT_DOUBLE_EQ(time_of("Matmul<float> by cuBLAS in tf32").seconds, 1e-3);
  // Both operands are made bfloat16 first: that belongs to such a product.
  EXPECT_DOUBLE_EQ(time_of("Matmul<float> by cuBLAS of bf16").seconds, 3e-3);
}

TEST(GpuTimes, BytesAndOperationsAreCountedByHand) {
  const double n = 24 * 8;
  EXPECT_EQ(time_of("AdamW<float>").bytes, 7 * 4 * n);
  EXPECT_EQ(time_of("AdamW<double>").bytes, 7 * 8 * n);
  EXPECT_EQ(time_of("MasterSgd<float>").bytes, (2 * 8 + 2 * 4) * n);
  EXPECT_EQ(time_of("RoundToBfloat16<float>").bytes, (4 + 2) * n);
  EXPECT_EQ(time_of("ResidualDropout<float>").bytes, (3 * 4 + 4) * n);
  EXPECT_EQ(time_of("Matmul<float>").bytes, 4 * (24 * 8 + 8 * 8 + 24 * 8));
  EXPECT_EQ(time_of("Matmul<float>").flops, 2 * 24 * 8 * 8);
  // 2 samples, 2 heads of 4, 3 tokens: q, k, v, context and 36 probabilities with their words; two
  // products of half of 3 x 3 x 4 multiplications and additions for each of 4 pairs.
  EXPECT_EQ(time_of("AttentionForward<float>").bytes, 4 * (4 * 48 + 36) + 4 * 36);
  EXPECT_EQ(time_of("AttentionForward<float>").flops, 2 * 4 * 9 * 4);
  EXPECT_EQ(time_of("Copy<float>").flops, 0);
}

TEST(GpuTimes, SharesAreOfWhatTheGpuCanDo) {
  EXPECT_EQ(small_times().limits.bandwidth, 1e12);
  ASSERT_EQ(small_times().limits.square.size(), 4U);
  const double of_square = 2 * 8 * 8 * 8 / 1e-3;
  EXPECT_DOUBLE_EQ(time_of("Matmul<float>").limit, of_square);
  EXPECT_DOUBLE_EQ(time_of("Matmul<float> by cuBLAS of bf16").limit, of_square / 3);
}

TEST(GpuTimes, ALineHasTimeAndShares) {
  GpuTimes times;
  times.limits.bandwidth = 4e12;
  times.limits.square = {{"by cuBLAS in fp32", 0.01, 0, 5e11, 0}};
  times.kernels = {{"Copy<float>", 0.002, 4e9, 0, 0}, {"Matmul<float>", 0.1, 1e9, 2e12, 5e13}};

  EXPECT_EQ(
      format_times(times),
      "memory moves 4000 GB/s at most (clock x width x 2)\n"
      "a large product by cuBLAS in fp32: 50.00 TFLOP/s\n"
      "kernel                                     ms      GB/s of memory   TFLOP/s of cuBLAS\n"
      "Copy<float>                            2.0000    2000.0    50.0 %         -         -\n"
      "Matmul<float>                        100.0000      10.0     0.2 %     20.00    40.0 %\n");
}

TEST(GpuTimes, WithoutABandwidthThereIsNoShareOfIt) {
  GpuTimes times;
  times.kernels = {{"Copy<float>", 0.002, 4e9, 0, 0}};

  EXPECT_THAT(format_times(times), HasSubstr("at most the driver does not tell"));
  EXPECT_THAT(format_times(times), HasSubstr("2000.0         -         -         -\n"));
}

TEST(GpuTimes, SaysHowCublasRoundsToTf32) {
  FakeGpu::get().reset();

  EXPECT_EQ(tf32_rounding(), "to nearest, ties away from zero");
}

TEST(GpuTimes, AStepIsTrainedOnTheGpu) {
  FakeGpu::get().reset();

  step_seconds(MESHPARITY_MODELS, "gpt-micro.single.plain.fp32.cuda-threads", 2);

  // 1 + 1 + 3 steps of the same launches.
  EXPECT_EQ(FakeGpu::get().calls("gemm in its own type") % 5, 0);
  EXPECT_GT(FakeGpu::get().calls("gemm in its own type"), 0);
}

TEST(GpuTimes, AFailureIsNamed) {
  FakeGpu::get().reset();
  FakeGpu::get().fail("cudaEventElapsedTime", 1, cudaErrorLaunchFailure);

  EXPECT_THAT([] { time_kernels(kSmall, 8); },
              testing::ThrowsMessage<Error>(HasSubstr("reading a timer")));
}

}  // namespace
}  // namespace meshparity
