#include "parallel_impl/train_on_cuda.hpp"

#include <fmt/format.h>

#include <utility>

#include "parallel_impl/backend/cuda_backend.hpp"
#include "parallel_impl/comm/cuda_staged_comm.hpp"

namespace meshparity {

ProductKind products_of(const CaseSpec& spec) {
  if (spec.fixed_gemm) {
    return ProductKind::fixed;
  }
  switch (spec.precision) {
    case Precision::tf32:
      return ProductKind::tf32;
    case Precision::bf16:
      return ProductKind::bf16;
    default:
      return ProductKind::plain;
  }
}

namespace {

const char* text_of(ProductKind products) {
  switch (products) {
    case ProductKind::fixed:
      return "fixed products";
    case ProductKind::tf32:
      return "products by cuBLAS in TF32, fixed workspace";
    case ProductKind::bf16:
      return "products by cuBLAS of bfloat16, sums in float, fixed workspace";
    case ProductKind::plain:
      break;
  }
  return "products by cuBLAS, TF32 off, fixed workspace";
}

}  // namespace

BackendSource cuda_backends(const CaseSpec& spec, std::shared_ptr<CudaStream> stream) {
  const ProductKind products = products_of(spec);
  return {[=] { return make_cuda_backend<double>(stream, products); },
          [=] { return make_cuda_backend<float>(stream, products); }};
}

std::string determinism_on_cuda(const CaseSpec& spec) {
  const bool ordered = spec.machine != Machine::cuda_nccl || spec.ordered;
  return fmt::format("{}, {}, no contraction", ordered ? "canonical sums" : "sums by NCCL",
                     text_of(products_of(spec)));
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
