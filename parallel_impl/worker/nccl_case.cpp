#include "parallel_impl/worker/nccl_case.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include "parallel_impl/backend/cuda_backend.hpp"
#include "parallel_impl/train_on_cuda.hpp"

namespace meshparity {
namespace {

constexpr const char* kAlgorithm = "Ring";
constexpr const char* kProtocol = "Simple";

template <class T>
void add(CudaStream& stream, const Payload& from, const Payload& into) {
  add_on_gpu(stream, reinterpret_cast<const T*>(from.data), reinterpret_cast<T*>(into.data),
             static_cast<int>(into.count));
}

}  // namespace

void choose_nccl_order() {
  ::setenv("NCCL_ALGO", kAlgorithm, 1);
  ::setenv("NCCL_PROTO", kProtocol, 1);
}

std::unique_ptr<Comm> NcclCase::begin(const CaseSpec& spec, NcclSide side) {
  choose_device(side.host.rank());
  stream_ = std::make_shared<CudaStream>();
  NcclChoice choice;
  choice.ordered = spec.ordered;
  choice.add = [stream = stream_](const Payload& from, const Payload& into) {
    from.type == ElementType::float64 ? add<double>(*stream, from, into)
                                      : add<float>(*stream, from, into);
  };
  return std::make_unique<NcclComm>(side, *stream_, std::move(choice));
}

std::string determinism_on_nccl(const CaseSpec& spec) {
  return fmt::format("{}, {}: {}, {}, {} channels", determinism_on_cuda(spec), nccl_version(),
                     kAlgorithm, kProtocol, kNcclChannels);
}

}  // namespace meshparity
