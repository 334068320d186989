// Training with a GPU: where a rank's numbers lie and how they travel; train.hpp says what it does.
#pragma once
#include <memory>
#include <string>

#include "parallel_impl/backend/cuda_product.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

/// A rank of cuda-threads or cuda-mpi: it takes the GPU of its rank, modulo their number, and its
/// messages go through pinned memory and context.comm. Throws what train() throws, and Error for
/// every call of CUDA that fails.
void train_on_cuda(const RankContext& context);

/// The same with backends of the caller's, which compute in `stream` on the GPU chosen already.
void train_staged(const RankContext& context, CudaStream& stream, BackendSource backends);

/// A rank of cuda-nccl, on the GPU chosen for the calling thread: context.comm takes buffers that
/// lie there, after all that was begun in `stream`.
void train_on_nccl(const RankContext& context, std::shared_ptr<CudaStream> stream);

/// What a case wants its products made with.
ProductKind products_of(const CaseSpec& spec);

/// What the bits of a case depend on, for the dump's header.
std::string determinism_on_cuda(const CaseSpec& spec);

/// Backends on the calling thread's GPU that compute in `stream`, as the case asks for products.
BackendSource cuda_backends(const CaseSpec& spec, std::shared_ptr<CudaStream> stream);

}  // namespace meshparity
