#include "parallel_impl/train_on_cuda.hpp"

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

void train_on_cuda(const RankContext& context) {
  choose_device(context.mesh.rank());
  const auto stream = std::make_shared<CudaStream>();
  StagedComm comm(context.comm, *stream);
  const RankContext on_gpu{context.spec,
                           context.model,
                           context.inputs,
                           context.mesh,
                           comm,
                           context.recorder,
                           context.faults,
                           context.board,
                           context.memory,
                           context.actions,
                           cuda_backends(context.spec, stream)};
  train(on_gpu);
}

}  // namespace meshparity
