#include "parallel_impl/backend/host_backend.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/backend/kernel_names.hpp"

namespace meshparity {
namespace {

TEST(HostBackend, CountsMemoryByTagAndKeepsThePeak) {
  const std::unique_ptr<Backend<double>> backend = make_host_backend<double>();
  {
    const Buffer<double> a(*backend, MemoryTag::gradient, 10);
    const Buffer<int> b(*backend, MemoryTag::gradient, 5);

    EXPECT_EQ(backend->use(MemoryTag::gradient).current, 100);
  }

  EXPECT_EQ(backend->use(MemoryTag::gradient).current, 0);
  EXPECT_EQ(backend->use(MemoryTag::gradient).peak, 100);
  EXPECT_EQ(backend->use(MemoryTag::parameter).peak, 0);
}

TEST(HostBackend, UsesReleasedMemoryAgainAndCleansIt) {
  const std::unique_ptr<Backend<double>> backend = make_host_backend<double>();
  Buffer<double> first(*backend, MemoryTag::activation_B, 4);
  first.upload(std::vector<double>{1, 2, 3, 4});
  first.reset();

  const Buffer<double> other(*backend, MemoryTag::activation_B, 3);
  const Buffer<double> again(*backend, MemoryTag::activation_W, 4);

  EXPECT_EQ(std::vector<double>(again.data(), again.data() + 4), std::vector<double>(4));
  EXPECT_EQ(backend->use(MemoryTag::activation_B).current, 24);
  EXPECT_EQ(backend->use(MemoryTag::activation_W).peak, 32);
}

TEST(Buffer, StartsAtZeroAndMovesItsMemory) {
  const std::unique_ptr<Backend<double>> backend = make_host_backend<double>();
  Buffer<double> from(*backend, MemoryTag::buffer, 3);
  EXPECT_EQ(std::vector<double>(from.data(), from.data() + 3), std::vector<double>(3));
  from.upload(std::vector<double>{1, 2, 3});

  Buffer<double> to;
  to = std::move(from);

  EXPECT_EQ(std::vector<double>(to.data(), to.data() + 3), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(from.data(), nullptr);
  EXPECT_EQ(backend->use(MemoryTag::buffer).current, 24);
}

TEST(HostBackend, RunsEveryIndexOfAKernel) {
  const std::unique_ptr<Backend<float>> backend = make_host_backend<float>();
  std::vector<float> x(2 * kChunk + 3, 1);

  backend->run(Divide<float>{x.data(), static_cast<int>(x.size()), 0.25F});

  EXPECT_EQ(x, std::vector<float>(x.size(), 4));
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// BackendOn makes each declared operation for double and float, or it would not compile: what is
// left to forget is the declaration.
TEST(Backend, DeclaresAnOperationForEveryKernelInTheFolder) {
  const std::filesystem::path parallel_impl = MESHPARITY_PARALLEL_IMPL;
  const std::string declared = text_of(parallel_impl / "backend/backend.hpp");
  const std::vector<std::string> kernels = kernel_names_of(parallel_impl / "kernels");
  for (const std::string& kernel : kernels) {
    EXPECT_NE(declared.find("run(const " + kernel + "<T>& kernel)"), std::string::npos)
        << kernel << " has no operation";
  }
  EXPECT_GT(kernels.size(), 20U);
}

}  // namespace
}  // namespace meshparity
