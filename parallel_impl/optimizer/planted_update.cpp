#include "parallel_impl/optimizer/planted_update.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "parallel_impl/backend/buffer.hpp"

namespace meshparity {
namespace {

template <class T>
void round_to_float(T* numbers, int count, Memory& memory) {
  std::vector<T> held(static_cast<std::size_t>(count));
  memory.download(numbers, held.data(), held.size() * sizeof(T));
  std::transform(held.begin(), held.end(), held.begin(),
                 [](T value) { return static_cast<T>(static_cast<float>(value)); });
  memory.upload(held.data(), numbers, held.size() * sizeof(T));
}

}  // namespace

template <class T>
void run_planted(AdamW<T> kernel, FaultPlan& faults, Backend<T>& backend, int layer) {
  if (faults.fires("step_count_stale", layer)) {
    kernel.correction1 = T(1) - kernel.beta1;
    kernel.correction2 = T(1) - kernel.beta2;
  }
  if (faults.fires("epsilon_before_correction", layer)) {
    // (sqrt(v) + eps) / sqrt(correction2) instead of sqrt(v / correction2) + eps
    kernel.epsilon = static_cast<T>(static_cast<double>(kernel.epsilon) /
                                    std::sqrt(static_cast<double>(kernel.correction2)));
  }
  Buffer<T> decaying;
  if (kernel.decays && faults.fires("decay_in_gradient", layer)) {
    // clip * (grad + theta * decay / clip): what L2 regularisation does
    decaying = Buffer<T>(backend, MemoryTag::buffer, kernel.count);
    backend.run(Copy<T>{kernel.grad, decaying.data(), kernel.count});
    backend.run(
        AddQuotient<T>{kernel.theta, decaying.data(), kernel.count,
                       static_cast<T>(kernel.clip / static_cast<double>(kernel.weight_decay))});
    kernel.grad = decaying.data();
    kernel.decays = false;
  }
  const bool decays_last = kernel.decays && faults.fires("decay_after_update", layer);
  kernel.decays = kernel.decays && !decays_last;
  backend.run(kernel);
  if (decays_last) {
    // theta - rate * (decay * theta)
    backend.run(Sgd<T>{kernel.theta, kernel.theta, kernel.count,
                       static_cast<double>(kernel.weight_decay), kernel.learning_rate});
  }
  if (faults.fires("moments_in_float", layer)) {
    round_to_float(kernel.moment1, kernel.count, backend);
    round_to_float(kernel.moment2, kernel.count, backend);
  }
}

template void run_planted(AdamW<double> kernel, FaultPlan& faults, Backend<double>& backend,
                          int layer);
template void run_planted(AdamW<float> kernel, FaultPlan& faults, Backend<float>& backend,
                          int layer);

}  // namespace meshparity
