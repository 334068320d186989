#include "parallel_impl/backend/cuda_backend.hpp"

#include "parallel_impl/backend/backend_on.hpp"
#include "parallel_impl/backend/cuda_device.hpp"

namespace meshparity {

template <class T>
std::unique_ptr<Backend<T>> make_cuda_backend(std::shared_ptr<CudaStream> stream,
                                              ProductKind products) {
  return std::make_unique<BackendOn<T, CudaDevice>>(std::move(stream), products);
}

template <class T>
void add_on_gpu(CudaStream& stream, const T* from, T* into, int count) {
  check_cuda(cuda_launch(AddInto<T>{from, into, count}, kCudaGroup<AddInto<T>>, stream.get()),
             "launching a sum");
}

template void add_on_gpu(CudaStream&, const double*, double*, int);
template void add_on_gpu(CudaStream&, const float*, float*, int);

template std::unique_ptr<Backend<double>> make_cuda_backend(std::shared_ptr<CudaStream>,
                                                            ProductKind);
template std::unique_ptr<Backend<float>> make_cuda_backend(std::shared_ptr<CudaStream>,
                                                           ProductKind);

}  // namespace meshparity
