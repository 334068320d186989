// Every kernel body for double, instantiated for a GPU.
#include "parallel_impl/backend/cuda_launch.cuh"

namespace meshparity {

template cudaError_t cuda_launch(const Matmul<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddBias<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddInto<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddQuotient<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Copy<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Divide<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const ColumnSum<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormForward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormBackward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LayerNormParameterGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormForward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormBackward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RmsNormParameterGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const RotaryTurn<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionForward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionProbsGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionBackward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AttentionSinkGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const GeluForward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const GeluBackward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const SwigluForward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const SwigluBackward<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Dropout<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const ResidualDropout<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const EmbeddingGather<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const EmbeddingScatter<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AddPositions<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const PositionGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitMax<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitSums<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const TokenLoss<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const LogitGrad<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const AdamW<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Sgd<double>&, CudaGroup, cudaStream_t);
template cudaError_t cuda_launch(const Momentum<double>&, CudaGroup, cudaStream_t);

}  // namespace meshparity
