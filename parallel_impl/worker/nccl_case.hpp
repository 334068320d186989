// One rank of a case on cuda-nccl: its GPU, its stream, and NCCL over the processes of MPI.
#pragma once
#include <memory>

#include "parallel_impl/comm/nccl_comm.hpp"
#include "parallel_impl/cuda/cuda_stream.hpp"
#include "parallel_impl/worker/run_rank.hpp"

namespace meshparity {

/// Chosen explicitly, because the order of NCCL's own sums depends on them: algorithm and protocol
/// through the environment, before NCCL is first called; channels with each communicator.
void choose_nccl_order();

class NcclCase {
 public:
  /// Takes the GPU of the rank on its machine, and makes the case's comm. Both sides outlive it.
  std::unique_ptr<Comm> begin(const CaseSpec& spec, NcclSide side);
  /// What train_on_nccl() needs beside the context.
  std::shared_ptr<CudaStream> stream() const { return stream_; }

 private:
  std::shared_ptr<CudaStream> stream_;
};

/// "sums by NCCL, ..., NCCL 2.28.9: Ring, Simple, 2 channels"
std::string determinism_on_nccl(const CaseSpec& spec);

}  // namespace meshparity
