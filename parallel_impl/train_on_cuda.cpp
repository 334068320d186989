#include "parallel_impl/train_on_cuda.hpp"

#include <fmt/format.h>

#include <utility>

#include "parallel_impl/backend/cuda_backend.hpp"
#include "parallel_impl/comm/cuda_staged_comm.hpp"

namespace meshparity {
namespace {

ProductKind products_of(const CaseSpec& spec) {
  if (spec.fixed_gemm) {
    return ProductKind::fixed;
  }
  return spec.precision == Precision::tf32 ? ProductKind::tf32 : ProductKind::plain;
}

}  // namespace

BackendSource cuda_backends(const CaseSpec& spec, std::shared_ptr<CudaStream> stream) {
  const ProductKind products = products_of(spec);
  return {[=] { return make_cuda_backend<double>(stream, products); },
          [=] { return make_cuda_backend<float>(stream, products); }};
}

std::string determinism_on_cuda(const CaseSpec& spec) {
  const bool ordered = spec.machine != Machine::cuda_nccl || spec.ordered;
  const char* products = spec.fixed_gemm ? "fixed products"
                         : products_of(spec) == ProductKind::tf32
                             ? "products by cuBLAS in TF32, fixed workspace"
                             : "products by cuBLAS, TF32 off, fixed workspace";
  return fmt::format("{}, {}, no contraction", ordered ? "canonical sums" : "sums by NCCL",
                     products);
}

void train_on_nccl(const RankContext& context, std::shared_ptr<CudaStream> stream) {
  RankContext on_gpu = context;
  on_gpu.backends = cuda_backends(context.spec, std::move(stream));
  train(on_gpu);
}

void train_staged(const RankContext& context, CudaStream& stream, BackendSource backends) {
  StagedComm comm(context.comm, stream);
  const RankContext on_gpu{context.spec,   context.model,    context.inputs,     context.mesh,
                           comm,           context.recorder, context.faults,     context.board,
                           context.memory, context.actions,  std::move(backends)};
  train(on_gpu);
}

void train_on_cuda(const RankContext& context) {
  choose_device(context.mesh.rank());
  const auto stream = std::make_shared<CudaStream>();
  train_staged(context, *stream, cuda_backends(context.spec, stream));
}

}  // namespace meshparity
