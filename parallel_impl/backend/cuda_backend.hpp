// The backend of a GPU.
#pragma once
#include <memory>

#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/backend/cuda_product.hpp"

namespace meshparity {

/// On the device of the calling thread; `stream` is the rank's own. T is double or float.
template <class T>
std::unique_ptr<Backend<T>> make_cuda_backend(std::shared_ptr<CudaStream> stream,
                                              ProductKind products);

/// into[i] += from[i], begun in the stream; both lie on the GPU. T is double or float.
template <class T>
void add_on_gpu(CudaStream& stream, const T* from, T* into, int count);

}  // namespace meshparity
