// The check of kernels over a GPU that is none: it reaches every kernel, and finds what is wrong.
#include "parallel_impl/check_kernels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include "parallel_impl/backend/kernel_names.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {
namespace {

using testing::IsEmpty;

/// Weights in double have no masters and are not rounded to bfloat16.
std::vector<std::string> kernels_not_reached(const std::map<std::string, KernelRow>& rows) {
  std::vector<std::string> missing;
  for (const std::string& kernel : kernel_names_of(MESHPARITY_KERNELS)) {
    for (const char* scalar : {"<double>", "<float>"}) {
      const std::string name = kernel + scalar;
      const bool beside = name.ends_with("<double>") &&
                          (name.starts_with("Master") || name.starts_with("RoundedCopy"));
      if (!rows.contains(name) && !beside) {
        missing.push_back(name);
      }
    }
  }
  return missing;
}

TEST(CheckKernels, ReachesEveryKernelForBothTypesAndFindsNothingWhereAllIsWell) {
  FakeGpu::get().reset();
  KernelChecks checks;

  check_kernels(MESHPARITY_MODELS, cases_of_kernel_check(), checks);

  EXPECT_THAT(kernels_not_reached(checks.rows()), IsEmpty());
  EXPECT_TRUE(checks.all_good()) << format_checks(checks.rows());
}

TEST(CheckKernels, FindsALaunchThatDidNothing) {
  FakeGpu::get().reset();
  FakeGpu::get().fail("launch that is lost", 11, 1);
  KernelChecks checks;

  check_kernels(MESHPARITY_MODELS, {"gpt-micro.single.steps1.fp64.cuda-threads"}, checks);

  EXPECT_FALSE(checks.all_good());
  EXPECT_THAT(format_checks(checks.rows()), testing::HasSubstr("beyond"));
}

std::vector<std::byte> guarded(const std::vector<double>& values) {
  std::vector<std::byte> bytes(2 * kGuardBytes + values.size() * sizeof(double), kGuard);
  std::memcpy(bytes.data() + kGuardBytes, values.data(), values.size() * sizeof(double));
  return bytes;
}

KernelRow compared(const std::vector<std::byte>& gpu, const std::vector<std::byte>& host) {
  KernelChecks checks;
  checks.compare("K", Scalar::wide, {gpu, host, 4, 2});
  return checks.rows().at("K");
}

TEST(CheckKernels, DifferencesAreHeldAgainstTheLimit) {
  const double limit = 4 * 2 * 0x1p-52;
  EXPECT_EQ(compared(guarded({1, 2}), guarded({1, 2})).beyond, 0);
  EXPECT_EQ(compared(guarded({1 + limit, 2}), guarded({1, 2})).beyond, 0);
  EXPECT_EQ(compared(guarded({1 + 2 * limit, 2}), guarded({1, 2})).beyond, 1);
  EXPECT_EQ(compared(guarded({NAN, 2}), guarded({1, 2})).beyond, 1);
  EXPECT_EQ(compared(guarded({NAN, 2}), guarded({NAN, 2.5})).beyond, 1);
}

TEST(CheckKernels, AGuardThatChangedIsATrespass) {
  std::vector<std::byte> gpu = guarded({1});
  gpu[gpu.size() - kGuardBytes] = std::byte{0};

  EXPECT_EQ(compared(gpu, guarded({1})).trespasses, 1);
  EXPECT_EQ(compared(guarded({1}), guarded({1})).trespasses, 0);
}

TEST(CheckKernels, NothingComparedIsNotGood) {
  EXPECT_FALSE(KernelChecks().all_good());
}

}  // namespace
}  // namespace meshparity
