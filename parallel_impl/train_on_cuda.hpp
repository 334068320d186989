// Training with a GPU: where a rank's numbers lie and how they travel; train.hpp says what it does.
#pragma once
#include <memory>

#include "parallel_impl/cuda/cuda_stream.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

/// A rank of cuda-threads or cuda-mpi: it takes the GPU of its rank, modulo their number, and its
/// messages go through pinned memory and context.comm. Throws what train() throws, and Error for
/// every call of CUDA that fails.
void train_on_cuda(const RankContext& context);

/// Backends on the calling thread's GPU that compute in `stream`, as the case asks for products.
BackendSource cuda_backends(const CaseSpec& spec, std::shared_ptr<CudaStream> stream);

}  // namespace meshparity
