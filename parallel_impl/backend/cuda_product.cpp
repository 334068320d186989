#include "parallel_impl/backend/cuda_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/cuda_launch.hpp"
#include "parallel_impl/cuda/cuda_calls.hpp"

namespace meshparity {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what sm_90 wants; sm_80 wants 4
constexpr int kLine = 128;  // elements of bfloat16 in 256 bytes: how cuBLAS likes its operands

/// Elements from a matrix's first to its last, gaps between its lines counted.
int span_of(int rows, int columns, int row_stride, int column_stride) {
  return (rows - 1) * row_stride + (columns - 1) * column_stride + 1;
}

}  // namespace

ColumnMajor column_major(int rows, int columns, int row_stride, int column_stride) {
  if (column_stride == 1 && row_stride >= columns) {
    return {CUBLAS_OP_N, std::max(1, row_stride)};
  }
  if (row_stride == 1 && column_stride >= rows) {
    return {CUBLAS_OP_T, std::max(1, column_stride)};
  }
  throw Error(
      fmt::format("a product of a {} x {} matrix with strides {} and {}: no line is "
                  "contiguous",
                  rows, columns, row_stride, column_stride));
}

ShortOperands::~ShortOperands() {
  if (data_ != nullptr) {
    cudaFreeAsync(data_, stream_.get());
  }
}

Bfloat16* ShortOperands::room(int count) {
  if (count > count_) {
    if (data_ != nullptr) {
      check_cuda(cudaFreeAsync(data_, stream_.get()), "giving back operands in bfloat16");
    }
    data_ = nullptr;
    count_ = 0;
    void* data = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(Bfloat16);
    check_cuda(cudaMallocAsync(&data, bytes, stream_.get()),
               fmt::format("allocating {} bytes for operands in bfloat16", bytes));
    data_ = static_cast<Bfloat16*>(data);
    count_ = count;
  }
  return data_;
}

ShortOperands::Pair ShortOperands::rounded(const Matmul<float>& product) {
  const Matmul<float>& p = product;
  const int of_a = span_of(p.rows, p.depth, p.a_row, p.a_depth);
  const int of_b = span_of(p.depth, p.columns, p.b_depth, p.b_column);
  const int second = (of_a + kLine - 1) / kLine * kLine;
  Bfloat16* const a = room(second + of_b);
  for (const RoundToBfloat16<float>& kernel :
       {RoundToBfloat16<float>{p.a, a, of_a}, RoundToBfloat16<float>{p.b, a + second, of_b}}) {
    check_cuda(cuda_launch(kernel, kCudaGroup<RoundToBfloat16<float>>, stream_.get()),
               "launching RoundToBfloat16<float> on a product's operands");
  }
  return {a, a + second};
}

CudaProduct::CudaProduct(CudaStream& stream, ProductKind kind)
    : stream_(stream), kind_(kind), short_(stream) {
  check_cublas(cublasCreate(&handle_), "making a cuBLAS handle");
  check_cublas(cublasSetStream(handle_, stream.get()), "giving cuBLAS its stream");
  check_cuda(cudaMallocAsync(&workspace_, kWorkspaceBytes, stream.get()),
             "allocating the workspace of cuBLAS");
  check_cublas(cublasSetWorkspace(handle_, workspace_, kWorkspaceBytes),
               "giving cuBLAS its workspace");
  check_cublas(cublasSetAtomicsMode(handle_, CUBLAS_ATOMICS_NOT_ALLOWED),
               "asking cuBLAS for sums without atomics");
}

CudaProduct::~CudaProduct() {
  cudaStreamSynchronize(stream_.get());
  cublasDestroy(handle_);
  cudaFreeAsync(workspace_, stream_.get());
}

void CudaProduct::run(const Matmul<double>& product) {
  multiply(product, {product.a, product.b, CUDA_R_64F}, CUBLAS_COMPUTE_64F);
}

// The pedantic kind uses no tensor cores, whatever the environment asks for.
void CudaProduct::run(const Matmul<float>& product) {
  const bool is_empty = product.rows == 0 || product.columns == 0 || product.depth == 0;
  if (kind_ == ProductKind::bf16 && !product.is_wide && !is_empty) {
    const ShortOperands::Pair operands = short_.rounded(product);
    return multiply(product, {operands.a, operands.b, CUDA_R_16BF}, CUBLAS_COMPUTE_32F);
  }
  multiply(product, {product.a, product.b, CUDA_R_32F},
           kind_ == ProductKind::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC);
}

// out = a b in rows is out^T = b^T a^T in columns: a row-major matrix is its transpose there.
template <class T>
void CudaProduct::multiply(const Matmul<T>& product, const Operands& operands,
                           cublasComputeType_t compute) {
  const Matmul<T>& p = product;
  if (p.rows == 0 || p.columns == 0) {
    return;
  }
  if (p.depth == 0) {
    const auto count = static_cast<std::size_t>(p.rows) * static_cast<std::size_t>(p.columns);
    stream_.fill(p.out, 0, count * sizeof(T), "clearing a product of depth 0");
    return;
  }
  const ColumnMajor a = column_major(p.rows, p.depth, p.a_row, p.a_depth);
  const ColumnMajor b = column_major(p.depth, p.columns, p.b_depth, p.b_column);
  const T one = 1;
  const T zero = 0;
  check_cublas(cublasGemmEx(handle_, b.operation, a.operation, p.columns, p.rows, p.depth, &one,
                            operands.b, operands.type, b.leading, operands.a, operands.type,
                            a.leading, &zero, p.out, sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F,
                            p.columns, compute, CUBLAS_GEMM_DEFAULT),
               fmt::format("multiplying {} x {} by {} x {}", p.rows, p.depth, p.depth, p.columns));
}

}  // namespace meshparity
