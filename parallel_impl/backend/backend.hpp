// Backend: the machine that kernels run on and its memory. One virtual call an operation; the
// operation's arguments are the fields of its kernel. Written once over a device in backend_on.hpp.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "parallel_impl/kernels/adamw.cuh"
#include "parallel_impl/kernels/attention.cuh"
#include "parallel_impl/kernels/bfloat16.cuh"
#include "parallel_impl/kernels/bfloat16_words.cuh"
#include "parallel_impl/kernels/column_sum.cuh"
#include "parallel_impl/kernels/cross_entropy.cuh"
#include "parallel_impl/kernels/dropout.cuh"
#include "parallel_impl/kernels/elementwise.cuh"
#include "parallel_impl/kernels/embedding.cuh"
#include "parallel_impl/kernels/gelu.cuh"
#include "parallel_impl/kernels/layer_norm.cuh"
#include "parallel_impl/kernels/master_update.cuh"
#include "parallel_impl/kernels/matmul.cuh"
#include "parallel_impl/kernels/rms_norm.cuh"
#include "parallel_impl/kernels/rotary.cuh"
#include "parallel_impl/kernels/sgd.cuh"
#include "parallel_impl/kernels/swiglu.cuh"

namespace meshparity {

/// What memory is for, as the memory ledger counts it. activation_B is kept until the gradient of a
/// layer's input is known, activation_W until that of its weights is (algorithms.md §3.1).
enum class MemoryTag { parameter, gradient, optimizer, activation_B, activation_W, buffer };
inline constexpr int kMemoryTags = 6;
/// "activation_B"
std::string_view memory_tag_name(MemoryTag tag);

struct MemoryUse {
  std::int64_t current = 0;  // bytes
  std::int64_t peak = 0;
};

/// The part of a backend that knows no scalar type. Not thread-safe: a rank has its own.
class Memory {
 public:
  virtual ~Memory() = default;

  /// Memory filled with zero bytes; what was released before is used again where it fits exactly,
  /// so that a step costs no system calls.
  void* acquire(std::size_t bytes, MemoryTag tag);
  void release(void* data, std::size_t bytes, MemoryTag tag);
  MemoryUse use(MemoryTag tag) const { return use_[static_cast<std::size_t>(tag)]; }

  /// Between the host's memory and the backend's.
  virtual void upload(const void* from, void* to, std::size_t bytes) = 0;
  virtual void download(const void* from, void* to, std::size_t bytes) = 0;
  virtual void clear(void* data, std::size_t bytes) = 0;

 protected:
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* data) = 0;
  /// For the destructor of whoever has free().
  void free_idle();

 private:
  void* take_idle(std::size_t bytes);

  std::array<MemoryUse, kMemoryTags> use_;
  std::map<std::size_t, std::vector<void*>> idle_;  // by size
};

template <class T>
class Backend : public Memory {
 public:
  virtual void run(const Matmul<T>& kernel) = 0;
  virtual void run(const AddBias<T>& kernel) = 0;
  virtual void run(const AddInto<T>& kernel) = 0;
  virtual void run(const AddQuotient<T>& kernel) = 0;
  virtual void run(const Copy<T>& kernel) = 0;
  virtual void run(const RoundedCopy<T>& kernel) = 0;
  virtual void run(const Divide<T>& kernel) = 0;
  virtual void run(const RoundToBfloat16<T>& kernel) = 0;
  virtual void run(const WidenBfloat16<T>& kernel) = 0;
  virtual void run(const ColumnSum<T>& kernel) = 0;
  virtual void run(const LayerNormForward<T>& kernel) = 0;
  virtual void run(const LayerNormBackward<T>& kernel) = 0;
  virtual void run(const LayerNormParameterGrad<T>& kernel) = 0;
  virtual void run(const RmsNormForward<T>& kernel) = 0;
  virtual void run(const RmsNormBackward<T>& kernel) = 0;
  virtual void run(const RmsNormParameterGrad<T>& kernel) = 0;
  virtual void run(const RotaryTurn<T>& kernel) = 0;
  virtual void run(const AttentionForward<T>& kernel) = 0;
  virtual void run(const AttentionProbsGrad<T>& kernel) = 0;
  virtual void run(const AttentionBackward<T>& kernel) = 0;
  virtual void run(const AttentionSinkGrad<T>& kernel) = 0;
  virtual void run(const GeluForward<T>& kernel) = 0;
  virtual void run(const GeluBackward<T>& kernel) = 0;
  virtual void run(const SwigluForward<T>& kernel) = 0;
  virtual void run(const SwigluBackward<T>& kernel) = 0;
  virtual void run(const Dropout<T>& kernel) = 0;
  virtual void run(const ResidualDropout<T>& kernel) = 0;
  virtual void run(const EmbeddingGather<T>& kernel) = 0;
  virtual void run(const EmbeddingScatter<T>& kernel) = 0;
  virtual void run(const AddPositions<T>& kernel) = 0;
  virtual void run(const PositionGrad<T>& kernel) = 0;
  virtual void run(const LogitMax<T>& kernel) = 0;
  virtual void run(const LogitSums<T>& kernel) = 0;
  virtual void run(const TokenLoss<T>& kernel) = 0;
  virtual void run(const LogitGrad<T>& kernel) = 0;
  virtual void run(const AdamW<T>& kernel) = 0;
  virtual void run(const Sgd<T>& kernel) = 0;
  virtual void run(const Momentum<T>& kernel) = 0;
  virtual void run(const MasterAdamW<T>& kernel) = 0;
  virtual void run(const MasterSgd<T>& kernel) = 0;
  virtual void run(const MasterMomentum<T>& kernel) = 0;
};

}  // namespace meshparity
