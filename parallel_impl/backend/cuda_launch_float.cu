// Every kernel body for float, instantiated for a GPU.
#include "parallel_impl/backend/cuda_launch.cuh"

namespace meshparity {

template cudaError_t cuda_launch(const Matmul<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddBias<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddInto<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddQuotient<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Copy<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Divide<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const ColumnSum<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormForward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormBackward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormParameterGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormForward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormBackward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormParameterGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RotaryTurn<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionForward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionProbsGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionBackward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionSinkGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const GeluForward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const GeluBackward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const SwigluForward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const SwigluBackward<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Dropout<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const ResidualDropout<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const EmbeddingGather<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const EmbeddingScatter<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddPositions<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const PositionGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitMax<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitSums<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const TokenLoss<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitGrad<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AdamW<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Sgd<float>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Momentum<float>&, CudaGroup, cudaStream_t);

}  // namespace meshparity
