// For tests: the seam cuda_launch for a GPU that is none. A launched body waits in its stream and
// then runs on the host, each index on one lane.
#include "parallel_impl/backend/every_kernel.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {

template <class Kernel>
cudaError_t cuda_launch(const Kernel& kernel, CudaGroup, cudaStream_t stream) {
  return FakeGpu::get().launch(stream, [kernel] {
    for (int index = 0; index < kernel.groups(); ++index) {
      kernel(OneLane{}, index);
    }
  });
}

template class BackendOn<double, EveryKernel>;
template class BackendOn<float, EveryKernel>;

}  // namespace meshparity
