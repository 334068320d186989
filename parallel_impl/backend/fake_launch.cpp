// For tests: the seam cuda_launch for a GPU that is none. A launched body waits in its stream and
// then runs on the host, each index on one lane.
#include "parallel_impl/backend/backend_on.hpp"
#include "parallel_impl/backend/cuda_launch.hpp"
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

/// Names each kernel once, so that the function above exists for all of them.
class EveryKernel {
 public:
  template <class Kernel>
  void launch(const Kernel& kernel) {
    cudaError_t (*volatile begin)(const Kernel&, CudaGroup, cudaStream_t) = &cuda_launch<Kernel>;
    begin(kernel, CudaGroup::block, nullptr);
  }
  void* allocate(std::size_t) { return nullptr; }
  void free(void*) {}
  void upload(const void*, void*, std::size_t) {}
  void download(const void*, void*, std::size_t) {}
  void clear(void*, std::size_t) {}
};

template class BackendOn<double, EveryKernel>;
template class BackendOn<float, EveryKernel>;

}  // namespace meshparity
