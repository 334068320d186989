// The seam between the host's code and what nvcc compiles: one function that puts a kernel on a
// stream, defined in cuda_launch.cuh for every operation of a backend.
#pragma once
#include <cuda_runtime_api.h>

#include <type_traits>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

/// The lanes that work on one index.
enum class CudaGroup { warp, block };

/// Whether a kernel is one of these, for whatever scalar type.
template <class Kernel, template <class> class... Kinds>
inline constexpr bool kIsOneOf = false;
template <template <class> class Kind, class T, template <class> class... Kinds>
inline constexpr bool kIsOneOf<Kind<T>, Kinds...> = (std::is_same_v<Kind<T>, Kinds<T>> || ...);

/// A warp for the rows of a token or of a query, which are short; a block for chunks and columns.
template <class Kernel>
inline constexpr CudaGroup kCudaGroup =
    kIsOneOf<Kernel, LayerNormForward, LayerNormBackward, RmsNormForward, RmsNormBackward,
             RotaryTurn, AttentionForward, AttentionProbsGrad, LogitMax, LogitSums, LogitGrad>
        ? CudaGroup::warp
        : CudaGroup::block;
static_assert(kCudaGroup<LogitMax<float>> == CudaGroup::warp);
static_assert(kCudaGroup<AdamW<double>> == CudaGroup::block);

/// Begins all indices of a kernel on the stream. Errors of its run appear in a later call.
template <class Kernel>
cudaError_t cuda_launch(const Kernel& kernel, CudaGroup group, cudaStream_t stream);

}  // namespace meshparity
