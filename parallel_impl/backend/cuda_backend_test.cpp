// The calls of CUDA and cuBLAS against a GPU that is none (fake_gpu.hpp): what is done, in which
// order, and what each failure ends in.
#include "parallel_impl/backend/cuda_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/backend/host_backend.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

class CudaBackendTest : public testing::Test {
 protected:
  void SetUp() override { FakeGpu::get().reset(); }
  /// With a workspace taken first.
  static std::unique_ptr<Backend<double>> backend(ProductKind products = ProductKind::plain) {
    return make_cuda_backend<double>(std::make_shared<CudaStream>(), products);
  }
};

template <class T>
std::vector<T> download(Backend<T>& backend, const Buffer<T>& buffer) {
  std::vector<T> values(static_cast<std::size_t>(buffer.count()));
  backend.download(buffer.data(), values.data(), values.size() * sizeof(T));
  return values;
}

/// The text of the Error that `body` throws; empty when it throws none.
std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_F(CudaBackendTest, AResultIsThereWhenItIsDownloadedAndNotBefore) {
  const auto gpu = backend();
  Buffer<double> x(*gpu, MemoryTag::buffer, 3);
  x.upload(std::vector<double>{1, 2, 3});

  gpu->run(Divide<double>{x.data(), 3, 2});

  EXPECT_EQ(FakeGpu::get().calls("cudaStreamSynchronize"), 0);
  EXPECT_EQ(download(*gpu, x), (std::vector<double>{0.5, 1, 1.5}));
}

TEST_F(CudaBackendTest, BuffersAreZeroAtFirstAndGoBack) {
  const std::size_t before = FakeGpu::get().bytes_in_use();
  {
    const auto gpu = backend();
    const Buffer<double> x(*gpu, MemoryTag::gradient, 5);
    const Buffer<double> none(*gpu, MemoryTag::gradient, 0);

    EXPECT_EQ(download(*gpu, x), std::vector<double>(5));
    EXPECT_NE(none.data(), nullptr);
    EXPECT_EQ(gpu->use(MemoryTag::gradient).current, 40);
  }
  EXPECT_EQ(FakeGpu::get().bytes_in_use(), before);
}

TEST_F(CudaBackendTest, TheHostCannotTouchItsMemory) {
  const auto gpu = backend();
  const Buffer<double> x(*gpu, MemoryTag::buffer, 1);

  EXPECT_EXIT(std::exit(static_cast<int>(*x.data())), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(CudaBackendTest, TheThirdLaunchThatFailsIsNamed) {
  const auto gpu = backend();
  Buffer<double> x(*gpu, MemoryTag::buffer, 3);
  FakeGpu::get().fail("cudaLaunchKernel", 3, cudaErrorLaunchFailure);
  gpu->run(Divide<double>{x.data(), 3, 2});
  gpu->run(Divide<double>{x.data(), 3, 2});

  EXPECT_THAT(error_of([&] {
                gpu->run(AddInto<double>{x.data(), x.data(), 3});
              }),
              HasSubstr("launching AddInto<double>: what CUDA says of it "
                        "(cudaErrorLaunchFailure)"));
}

TEST_F(CudaBackendTest, AnErrorInsideALaunchShowsAtTheNextDownloadAndStays) {
  const auto gpu = backend();
  Buffer<double> x(*gpu, MemoryTag::buffer, 3);
  FakeGpu::get().fail_in_launch(1, cudaErrorIllegalAddress);
  gpu->run(Divide<double>{x.data(), 3, 2});

  EXPECT_THAT(error_of([&] { download(*gpu, x); }),
              HasSubstr("copying from the GPU, the last kernel begun being Divide<double>: what "
                        "CUDA says of it (cudaErrorIllegalAddress)"));
  EXPECT_THAT(error_of([&] { x.clear(); }),
              HasSubstr("clearing memory of the GPU: what CUDA says of it (cudaErrorIllegal"));
}

TEST_F(CudaBackendTest, AnAllocationThatFailsSaysHowMuchWasAsked) {
  const auto gpu = backend();
  FakeGpu::get().fail("cudaMallocAsync", 1, cudaErrorMemoryAllocation);

  EXPECT_EQ(error_of([&] { Buffer<double>(*gpu, MemoryTag::buffer, 12); }),
            "allocating 96 bytes on the GPU: out of memory (cudaErrorMemoryAllocation)");
}

TEST_F(CudaBackendTest, EachCallOfItsBeginningIsChecked) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"cudaStreamCreateWithFlags", "making a stream"},
      {"cublasCreate", "making a cuBLAS handle"},
      {"cublasSetStream", "giving cuBLAS its stream"},
      {"cudaMallocAsync", "allocating the workspace of cuBLAS"},
      {"cublasSetWorkspace", "giving cuBLAS its workspace"},
      {"cublasSetAtomicsMode", "asking cuBLAS for sums without atomics"}};
  for (const auto& [function, doing] : calls) {
    FakeGpu::get().reset();
    FakeGpu::get().fail(function, 1, CUBLAS_STATUS_ALLOC_FAILED);

    EXPECT_THAT(error_of([] { backend(); }), HasSubstr(doing + ": what ")) << function;
  }
}

TEST_F(CudaBackendTest, AMachineWithoutAGpuIsRefused) {
  FakeGpu::get().set_devices(0);

  EXPECT_THAT(error_of([] { choose_device(0); }), HasSubstr("counting GPUs: "));
}

/// A product whose operands hold 1, 2, 3, ...
template <class T>
std::vector<T> product_on(Backend<T>& backend, Matmul<T> product) {
  Buffer<T> a(backend, MemoryTag::buffer, product.rows * product.depth);
  Buffer<T> b(backend, MemoryTag::buffer, product.depth * product.columns);
  Buffer<T> out(backend, MemoryTag::buffer, product.rows * product.columns);
  std::vector<T> numbers(static_cast<std::size_t>(std::max(a.count(), b.count())));
  std::iota(numbers.begin(), numbers.end(), T(1));
  a.upload(std::span(numbers).first(static_cast<std::size_t>(a.count())));
  b.upload(std::span(numbers).first(static_cast<std::size_t>(b.count())));
  product.a = a.data();
  product.b = b.data();
  product.out = out.data();
  backend.run(product);
  return download(backend, out);
}

TEST_F(CudaBackendTest, EveryFormOfAProductMeansWhatOurKernelMeans) {
  for (const ProductKind kind : {ProductKind::plain, ProductKind::fixed}) {
    const auto gpu = backend(kind);
    const auto host = make_host_backend<double>();
    for (const auto& [rows, columns, depth] :
         std::vector<std::array<int, 3>>{{2, 3, 4}, {1, 3, 4}, {2, 1, 4}, {2, 3, 1}, {3, 2, 0}}) {
      const std::vector<Matmul<double>> forms = {
          {nullptr, depth, 1, nullptr, columns, 1, nullptr, rows, columns, depth},
          {nullptr, depth, 1, nullptr, 1, depth, nullptr, rows, columns, depth},
          {nullptr, 1, rows, nullptr, columns, 1, nullptr, rows, columns, depth},
          {nullptr, 1, rows, nullptr, 1, depth, nullptr, rows, columns, depth}};
      for (const Matmul<double>& form : forms) {
        EXPECT_EQ(product_on(*gpu, form), product_on(*host, form))
            << rows << " x " << columns << " x " << depth;
      }
    }
  }
}

TEST_F(CudaBackendTest, OnlyTheKindOfProductAskedForIsUsed) {
  const Matmul<float> product{nullptr, 4, 1, nullptr, 3, 1, nullptr, 2, 3, 4};
  for (const ProductKind kind :
       {ProductKind::plain, ProductKind::tf32, ProductKind::bf16, ProductKind::fixed}) {
    FakeGpu::get().reset();
    const auto gpu = make_cuda_backend<float>(std::make_shared<CudaStream>(), kind);

    product_on(*gpu, product);

    EXPECT_EQ(FakeGpu::get().calls("gemm in tf32"), kind == ProductKind::tf32 ? 1 : 0);
    EXPECT_EQ(FakeGpu::get().calls("gemm in its own type"), kind == ProductKind::plain ? 1 : 0);
    EXPECT_EQ(FakeGpu::get().calls("gemm in bf16"), kind == ProductKind::bf16 ? 1 : 0);
    const int launches = kind == ProductKind::fixed ? 1 : kind == ProductKind::bf16 ? 2 : 0;
    EXPECT_EQ(FakeGpu::get().calls("cudaLaunchKernel"), launches);
  }
}

TEST_F(CudaBackendTest, AWideProductIsPlainWhereOthersAreOfBfloat16) {
  const auto gpu = make_cuda_backend<float>(std::make_shared<CudaStream>(), ProductKind::bf16);

  product_on(*gpu, {nullptr, 4, 1, nullptr, 3, 1, nullptr, 2, 3, 4, true});

  EXPECT_EQ(FakeGpu::get().calls("gemm in its own type"), 1);
  EXPECT_EQ(FakeGpu::get().calls("gemm in bf16"), 0);
}

/// 1 x 1 of one term: a b.
float product_of(ProductKind kind, float a, float b) {
  const auto gpu = make_cuda_backend<float>(std::make_shared<CudaStream>(), kind);
  Buffer<float> x(*gpu, MemoryTag::buffer, 2);
  Buffer<float> out(*gpu, MemoryTag::buffer, 1);
  x.upload(std::vector<float>{a, b});
  gpu->run(Matmul<float>{x.data(), 1, 1, x.data() + 1, 1, 1, out.data(), 1, 1, 1});
  return download(*gpu, out)[0];
}

TEST_F(CudaBackendTest, OperandsAreRoundedToWhatTheKindOfProductHolds) {
  const float fine = 1 + 0x1p-12F;
  EXPECT_EQ(product_of(ProductKind::plain, fine, 1), fine);
  EXPECT_EQ(product_of(ProductKind::tf32, fine, 1), 1);
  EXPECT_EQ(product_of(ProductKind::tf32, 1, -(1 + 0x1p-11F)), -(1 + 0x1p-10F));  // a tie
  EXPECT_EQ(product_of(ProductKind::tf32, INFINITY, 1), INFINITY);
  EXPECT_EQ(product_of(ProductKind::bf16, 1 + 0x1p-7F, 1 + 0x1p-7F), 1 + 0x1p-6F + 0x1p-14F);
}

TEST_F(CudaBackendTest, EveryFormOfAProductOfBfloat16MeansWhatOurKernelMeans) {
  const auto gpu = make_cuda_backend<float>(std::make_shared<CudaStream>(), ProductKind::bf16);
  const auto host = make_host_backend<float>();
  for (const auto& [rows, columns, depth] :
       std::vector<std::array<int, 3>>{{2, 3, 4}, {1, 3, 4}, {2, 1, 4}, {2, 3, 1}, {3, 2, 0}}) {
    for (const Matmul<float>& form : std::vector<Matmul<float>>{
             {nullptr, depth, 1, nullptr, columns, 1, nullptr, rows, columns, depth},
             {nullptr, depth, 1, nullptr, 1, depth, nullptr, rows, columns, depth},
             {nullptr, 1, rows, nullptr, columns, 1, nullptr, rows, columns, depth}}) {
      EXPECT_EQ(product_on(*gpu, form), product_on(*host, form))
          << rows << " x " << columns << " x " << depth;
    }
  }
}

TEST_F(CudaBackendTest, EachCallOfAProductOfBfloat16IsChecked) {
  const std::vector<std::pair<std::string, std::string>> calls = {
      {"cudaMallocAsync", "allocating 258 bytes for operands in bfloat16: out of memory"},
      {"cudaLaunchKernel", "launching RoundToBfloat16<float> on a product's operands: "}};
  for (const auto& [function, said] : calls) {
    FakeGpu::get().reset();
    const auto gpu = make_cuda_backend<float>(std::make_shared<CudaStream>(), ProductKind::bf16);
    const Buffer<float> x(*gpu, MemoryTag::buffer, 1);
    Buffer<float> out(*gpu, MemoryTag::buffer, 1);
    FakeGpu::get().fail(function, 1, cudaErrorMemoryAllocation);

    EXPECT_THAT(error_of([&] {
                  gpu->run(Matmul<float>{x.data(), 1, 1, x.data(), 1, 1, out.data(), 1, 1, 1});
                }),
                HasSubstr(said));
  }
}

TEST_F(CudaBackendTest, AProductThatFailsIsNamedByItsSizes) {
  const auto gpu = backend();
  FakeGpu::get().fail("cublasGemmEx", 1, CUBLAS_STATUS_ALLOC_FAILED);

  EXPECT_EQ(error_of([&] {
              product_on(*gpu, {nullptr, 4, 1, nullptr, 3, 1, nullptr, 2, 3, 4});
            }),
            "multiplying 2 x 4 by 4 x 3: what cuBLAS says of it (CUBLAS_STATUS_ALLOC_FAILED)");
}

TEST_F(CudaBackendTest, AMatrixWithoutContiguousLinesIsRefused) {
  EXPECT_THAT(error_of([] { column_major(3, 4, 8, 2); }), HasSubstr("no line is contiguous"));
}

}  // namespace
}  // namespace meshparity
