// Products by cuBLAS: one handle a rank, with a workspace of its own, so that the same product
// gives the same bits in every run.
#pragma once
#include <cublas_v2.h>

#include "parallel_impl/cuda/cuda_stream.hpp"
#include "parallel_impl/kernels/matmul.cuh"

namespace meshparity {

/// What products are made with: plain sums in the type itself, operands of float rounded to TF32
/// first, or our own kernel, in the fixed order of the host.
enum class ProductKind { plain, tf32, fixed };

/// One operand as cuBLAS wants it: column-major, with a leading dimension.
struct ColumnMajor {
  cublasOperation_t operation = CUBLAS_OP_N;
  int leading = 1;
};
/// A matrix of rows x columns with these strides, read as its transpose in column-major order.
/// Throws Error unless one of the strides is 1 and the other spans a line.
ColumnMajor column_major(int rows, int columns, int row_stride, int column_stride);

class CudaProduct {
 public:
  CudaProduct(CudaStream& stream, ProductKind kind);
  ~CudaProduct();
  CudaProduct(const CudaProduct&) = delete;
  CudaProduct& operator=(const CudaProduct&) = delete;

  void run(const Matmul<double>& product);
  void run(const Matmul<float>& product);

 private:
  template <class T>
  void multiply(const Matmul<T>& product, cudaDataType type, cublasComputeType_t compute);

  CudaStream& stream_;
  ProductKind kind_;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
};

}  // namespace meshparity
