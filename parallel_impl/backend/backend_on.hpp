// Every operation once, over a device: what launches a kernel on a kind of machine and holds its
// memory. A device offers launch(kernel), allocate, free, upload, download, clear.
#pragma once
#include <utility>

#include "parallel_impl/backend/backend.hpp"

namespace meshparity {

template <class T, class Device>
class BackendOn final : public Backend<T> {
 public:
  ~BackendOn() override { this->free_idle(); }
  /// With the arguments of the device.
  template <class... Arguments>
  explicit BackendOn(Arguments&&... arguments) : device_(std::forward<Arguments>(arguments)...) {}

  void run(const Matmul<T>& kernel) override { device_.launch(kernel); }
  void run(const AddBias<T>& kernel) override { device_.launch(kernel); }
  void run(const AddInto<T>& kernel) override { device_.launch(kernel); }
  void run(const AddQuotient<T>& kernel) override { device_.launch(kernel); }
  void run(const Copy<T>& kernel) override { device_.launch(kernel); }
  void run(const RoundedCopy<T>& kernel) override { device_.launch(kernel); }
  void run(const Divide<T>& kernel) override { device_.launch(kernel); }
  void run(const RoundToBfloat16<T>& kernel) override { device_.launch(kernel); }
  void run(const WidenBfloat16<T>& kernel) override { device_.launch(kernel); }
  void run(const ColumnSum<T>& kernel) override { device_.launch(kernel); }
  void run(const LayerNormForward<T>& kernel) override { device_.launch(kernel); }
  void run(const LayerNormBackward<T>& kernel) override { device_.launch(kernel); }
  void run(const LayerNormParameterGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const RmsNormForward<T>& kernel) override { device_.launch(kernel); }
  void run(const RmsNormBackward<T>& kernel) override { device_.launch(kernel); }
  void run(const RmsNormParameterGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const RotaryTurn<T>& kernel) override { device_.launch(kernel); }
  void run(const AttentionForward<T>& kernel) override { device_.launch(kernel); }
  void run(const AttentionProbsGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const AttentionBackward<T>& kernel) override { device_.launch(kernel); }
  void run(const AttentionSinkGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const GeluForward<T>& kernel) override { device_.launch(kernel); }
  void run(const GeluBackward<T>& kernel) override { device_.launch(kernel); }
  void run(const SwigluForward<T>& kernel) override { device_.launch(kernel); }
  void run(const SwigluBackward<T>& kernel) override { device_.launch(kernel); }
  void run(const Dropout<T>& kernel) override { device_.launch(kernel); }
  void run(const ResidualDropout<T>& kernel) override { device_.launch(kernel); }
  void run(const EmbeddingGather<T>& kernel) override { device_.launch(kernel); }
  void run(const EmbeddingScatter<T>& kernel) override { device_.launch(kernel); }
  void run(const AddPositions<T>& kernel) override { device_.launch(kernel); }
  void run(const PositionGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const LogitMax<T>& kernel) override { device_.launch(kernel); }
  void run(const LogitSums<T>& kernel) override { device_.launch(kernel); }
  void run(const TokenLoss<T>& kernel) override { device_.launch(kernel); }
  void run(const LogitGrad<T>& kernel) override { device_.launch(kernel); }
  void run(const AdamW<T>& kernel) override { device_.launch(kernel); }
  void run(const Sgd<T>& kernel) override { device_.launch(kernel); }
  void run(const Momentum<T>& kernel) override { device_.launch(kernel); }
  void run(const MasterAdamW<T>& kernel) override { device_.launch(kernel); }
  void run(const MasterSgd<T>& kernel) override { device_.launch(kernel); }
  void run(const MasterMomentum<T>& kernel) override { device_.launch(kernel); }

  void upload(const void* from, void* to, std::size_t bytes) override {
    device_.upload(from, to, bytes);
  }
  void download(const void* from, void* to, std::size_t bytes) override {
    device_.download(from, to, bytes);
  }
  void clear(void* data, std::size_t bytes) override { device_.clear(data, bytes); }

 private:
  void* allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void free(void* data) override { device_.free(data); }

  Device device_;
};

}  // namespace meshparity
