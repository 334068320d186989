#include "parallel_impl/cuda/cuda_machine.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "parallel_impl/cuda/cuda_calls.hpp"

namespace meshparity {
namespace {

constexpr int kLeastCapability = 80;  // what the kernels are compiled for

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

CudaMachine with_devices(int count) {
  cudaDeviceProp properties{};
  int driver = 0;
  int runtime = 0;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "asking what GPU 0 is");
  check_cuda(cudaDriverGetVersion(&driver), "asking for the driver's version");
  check_cuda(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  CudaMachine machine;
  machine.devices = fmt::format("{} x {}, driver {}, runtime {}", count, properties.name,
                                version_text(driver), version_text(runtime));
  const int capability = 10 * properties.major + properties.minor;
  if (capability < kLeastCapability) {
    machine.why_unusable =
        fmt::format("{} is sm_{}, and the kernels are compiled for sm_80 and newer",
                    properties.name, capability);
  }
  return machine;
}

}  // namespace

double memory_bandwidth() {
  int kilohertz = 0;
  int bits = 0;
  check_cuda(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0),
             "asking for the clock of a GPU's memory");
  check_cuda(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0),
             "asking for the width of a GPU's memory");
  return 2 * 1e3 * kilohertz * (bits / 8.0);
}

CudaMachine cuda_machine() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    return {"", "no driver of NVIDIA, or one that is older than this CUDA: install a newer driver"};
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    return {"", "no GPU of NVIDIA on this machine"};
  }
  check_cuda(status, "counting GPUs");
  return with_devices(count);
}

}  // namespace meshparity
