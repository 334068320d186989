// Products by cuBLAS: one handle a rank, with a workspace of its own, so that the same product
// gives the same bits in every run.
#pragma once
#include <cublas_v2.h>

#include "parallel_impl/cuda/cuda_stream.hpp"
#include "parallel_impl/kernels/bfloat16_words.cuh"
#include "parallel_impl/kernels/matmul.cuh"

namespace meshparity {

/// What products are made with: plain sums in the type itself; of floats, operands rounded to TF32
/// by cuBLAS, or operands that are bfloat16 (plain where a product says that they are not), sums in
/// float; or our own kernel, in the fixed order of the host.
enum class ProductKind { plain, tf32, bf16, fixed };

/// One operand as cuBLAS wants it: column-major, with a leading dimension.
struct ColumnMajor {
  cublasOperation_t operation = CUBLAS_OP_N;
  int leading = 1;
};
/// A matrix of rows x columns with these strides, read as its transpose in column-major order.
/// Throws Error unless one of the strides is 1 and the other spans a line.
ColumnMajor column_major(int rows, int columns, int row_stride, int column_stride);

/// Two operands as bfloat16, in memory of a rank's own; grows, never shrinks. Exact: in this
/// precision all that is not wide is rounded where it is made.
class ShortOperands {
 public:
  explicit ShortOperands(CudaStream& stream) : stream_(stream) {}
  ~ShortOperands();
  ShortOperands(const ShortOperands&) = delete;
  ShortOperands& operator=(const ShortOperands&) = delete;

  /// Begun in the stream; they lie there until the next call.
  struct Pair {
    const Bfloat16* a;
    const Bfloat16* b;
  };
  Pair rounded(const Matmul<float>& product);

 private:
  Bfloat16* room(int count);

  CudaStream& stream_;
  Bfloat16* data_ = nullptr;
  int count_ = 0;
};

class CudaProduct {
 public:
  CudaProduct(CudaStream& stream, ProductKind kind);
  ~CudaProduct();
  CudaProduct(const CudaProduct&) = delete;
  CudaProduct& operator=(const CudaProduct&) = delete;

  void run(const Matmul<double>& product);
  void run(const Matmul<float>& product);

 private:
  struct Operands {
    const void* a;
    const void* b;
    cudaDataType type;
  };
  template <class T>
  void multiply(const Matmul<T>& product, const Operands& operands, cublasComputeType_t compute);

  CudaStream& stream_;
  ProductKind kind_;
  cublasHandle_t handle_ = nullptr;
  void* workspace_ = nullptr;
  ShortOperands short_;
};

}  // namespace meshparity
