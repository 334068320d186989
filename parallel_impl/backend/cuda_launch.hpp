// The seam between the host's code and what nvcc compiles: one function that puts a kernel on a
// stream, defined in cuda_launch.cuh for every operation of a backend.
#pragma once
#include <cuda_runtime_api.h>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

/// The lanes that work on one index.
enum class CudaGroup { warp, block };

/// A warp for the rows of a token or of a query, which are short; a block for chunks and columns.
template <class Kernel>
inline constexpr CudaGroup kCudaGroup = CudaGroup::block;
template <class T>
inline constexpr CudaGroup kCudaGroup<LayerNormForward<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<LayerNormBackward<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<RmsNormForward<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<RmsNormBackward<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<RotaryTurn<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<AttentionForward<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<AttentionProbsGrad<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<LogitMax<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<LogitSums<T>> = CudaGroup::warp;
template <class T>
inline constexpr CudaGroup kCudaGroup<LogitGrad<T>> = CudaGroup::warp;

/// Begins all indices of a kernel on the stream. Errors of its run appear in a later call.
template <class Kernel>
cudaError_t cuda_launch(const Kernel& kernel, CudaGroup group, cudaStream_t stream);

}  // namespace meshparity
