#include "parallel_impl/model/micro_batch.hpp"

#include <cassert>

#include "fixtures/step_place.hpp"

namespace meshparity {

BatchPlace batch_place(const ModelSpec& model, const CaseSpec& spec, const Mesh& mesh, int step,
                       int mb) {
  const int parts = mesh.degree(Axis::dp) * spec.micro_batches;
  assert(model.global_batch % parts == 0);
  BatchPlace place;
  place.step = step;
  place.mb = mb;
  place.samples = model.global_batch / parts;
  place.batch = batch_of_step(spec, step);
  const bool is_a_step = updates_each_micro_batch(spec.schedule);
  const int replica = mesh.index(Axis::dp);
  const int in_batch = is_a_step ? micro_batch_of_step(spec, step) : mb;
  place.first_in_batch = (replica * spec.micro_batches + in_batch) * place.samples;
  place.first_sample = is_a_step ? replica * place.samples : place.first_in_batch;
  place.sequence = model.sequence;
  return place;
}

template <class T>
MicroBatch<T>::MicroBatch(int rows, Memory& memory)
    : tokens_(memory, MemoryTag::buffer, rows),
      labels_(memory, MemoryTag::buffer, rows),
      weights_(memory, MemoryTag::buffer, rows),
      seeds_(memory, MemoryTag::buffer, rows),
      host_tokens_(static_cast<std::size_t>(rows)),
      host_labels_(static_cast<std::size_t>(rows)),
      host_weights_(static_cast<std::size_t>(rows)),
      host_seeds_(static_cast<std::size_t>(rows)) {}

template <class T>
void MicroBatch<T>::load(const RawInputs& inputs, const BatchPlace& place, double loss_scale,
                         bool forgets_last_length) {
  assert(static_cast<std::size_t>(place.rows()) == host_tokens_.size());
  place_ = place;
  counted_ = 0;
  std::size_t row = 0;
  for (int j = 0; j < place.samples; ++j) {
    const int sample = place.first_in_batch + j;
    const bool forgets = forgets_last_length && j + 1 == place.samples;
    const int length = forgets ? place.sequence : inputs.length(place.batch, sample);
    for (int p = 0; p < place.sequence; ++p, ++row) {
      const bool counts = p < length && inputs.mask_bit(place.batch, sample, p);
      host_tokens_[row] = inputs.token(place.batch, sample, p);
      host_labels_[row] = inputs.token(place.batch, sample, p + 1);
      host_weights_[row] = counts ? T(1) : T(0);
      const double seed = counts ? inputs.loss_seed(place.batch, sample, p) * loss_scale : 0;
      host_seeds_[row] = static_cast<T>(seed);
      counted_ += counts ? 1 : 0;
    }
  }
  tokens_.upload(host_tokens_);
  labels_.upload(host_labels_);
  weights_.upload(host_weights_);
  seeds_.upload(host_seeds_);
}

template class MicroBatch<double>;
template class MicroBatch<float>;

}  // namespace meshparity
