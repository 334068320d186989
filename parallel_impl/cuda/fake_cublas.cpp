// The functions of cuBLAS that the program uses, over a GPU that is none: each element of a product
// is summed in order.
#include <cublas_v2.h>

#include "parallel_impl/cuda/fake_gpu.hpp"
#include "parallel_impl/cuda/fake_tf32.hpp"
#include "parallel_impl/kernels/bfloat16_words.cuh"

namespace {

using meshparity::Bfloat16;
using meshparity::FakeGpu;

cublasStatus_t enter(const char* function) {
  return static_cast<cublasStatus_t>(FakeGpu::get().enter(function));
}

/// A matrix in column-major order, perhaps read as its transpose.
template <class Stored>
struct Operand {
  const Stored* data;
  int leading;
  bool transposed;
  Stored at(int row, int column) const {
    return transposed ? data[column + row * leading] : data[row + column * leading];
  }
};

struct Extent {
  int rows;
  int columns;
  int depth;
};

/// `read` makes of a stored element the number that is multiplied.
template <class Stored, class T, class Read>
void multiply(const Operand<Stored>& a, const Operand<Stored>& b, T* out, int leading,
              const Extent& extent, Read read) {
  for (int j = 0; j < extent.columns; ++j) {
    for (int i = 0; i < extent.rows; ++i) {
      T sum = 0;
      for (int k = 0; k < extent.depth; ++k) {
        sum = sum + read(a.at(i, k)) * read(b.at(k, j));
      }
      out[i + j * leading] = sum;
    }
  }
}

const char* kind_of(cudaDataType type, cublasComputeType_t compute) {
  if (type == CUDA_R_16BF) {
    return "gemm in bf16";
  }
  return compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? "gemm in tf32" : "gemm in its own type";
}

/// What cublasSetStream gave, kept where the handle points.
struct FakeHandle {
  cudaStream_t stream = nullptr;
};

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new FakeHandle);
  return enter("cublasCreate");
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete reinterpret_cast<FakeHandle*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  reinterpret_cast<FakeHandle*>(handle)->stream = stream;
  return enter("cublasSetStream");
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) {
  return enter("cublasSetWorkspace");
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) {
  return enter("cublasSetAtomicsMode");
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t on_a, cublasOperation_t on_b,
                            int rows, int columns, int depth, const void*, const void* a,
                            cudaDataType type, int a_leading, const void* b, cudaDataType,
                            int b_leading, const void*, void* out, cudaDataType, int out_leading,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  FakeGpu& gpu = FakeGpu::get();
  gpu.enter(kind_of(type, compute));
  if (const cublasStatus_t status = enter("cublasGemmEx")) {
    return status;
  }
  const auto work = [=]<class Stored, class T>(Stored, T, auto read) {
    multiply<Stored, T>({static_cast<const Stored*>(a), a_leading, on_a == CUBLAS_OP_T},
                        {static_cast<const Stored*>(b), b_leading, on_b == CUBLAS_OP_T},
                        static_cast<T*>(out), out_leading, {rows, columns, depth}, read);
  };
  gpu.begin(reinterpret_cast<FakeHandle*>(handle)->stream, [=] {
    FakeGpu::get().pass_time();
    if (type == CUDA_R_64F) {
      work(0.0, 0.0, [](double value) { return value; });
    } else if (type == CUDA_R_16BF) {
      work(Bfloat16(), 0.0F, [](Bfloat16 value) { return meshparity::widened(value); });
    } else if (compute == CUBLAS_COMPUTE_32F_FAST_TF32) {
      work(0.0F, 0.0F, [](float value) { return meshparity::fake_tf32(value); });
    } else {
      work(0.0F, 0.0F, [](float value) { return value; });
    }
  });
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t) {
  return "what cuBLAS says of it";
}

const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED ? "CUBLAS_STATUS_ALLOC_FAILED"
                                              : "CUBLAS_STATUS_OF_ANOTHER_NAME";
}

}  // extern "C"
