#include "parallel_impl/optimizer/gradient_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "parallel_impl/optimizer/planted_gradients.hpp"

namespace meshparity {
namespace {

Site site_of(int layer, int step, int mb) {
  return {layer, "grad.dp", "grad", step, mb};
}

}  // namespace

template <class T>
GradientSums<T>::GradientSums(const Parts& parts, Parameters<T>& params)
    : parts_(parts),
      params_(params),
      payload_(parts.comm, parts.backend, parts.faults, parts.spec.gradcomm_bf16),
      dp_(parts.mesh.group({Axis::dp})) {}

template <class T>
void GradientSums<T>::begin(int chunk, int mb) {
  if (params_.rules().stage >= 2) {
    bind(slot_for(chunk, mb));
  }
}

/// Of the least micro-batch: parts must be added in their order.
template <class T>
typename GradientSums<T>::Slot* GradientSums<T>::earliest(int chunk, State state) {
  Slot* first = nullptr;
  for (Slot& slot : slots_) {
    const bool fits = slot.chunk == chunk && slot.state == state;
    first = fits && (first == nullptr || slot.mb < first->mb) ? &slot : first;
  }
  return first;
}

/// The one that the micro-batch has already; else one that is free, or was sent first, or new.
template <class T>
typename GradientSums<T>::Slot& GradientSums<T>::slot_for(int chunk, int mb) {
  for (Slot& slot : slots_) {
    if (slot.chunk == chunk && slot.mb == mb && slot.state == State::filling) {
      return slot;
    }
  }
  Slot* slot = earliest(chunk, State::free);
  if (slot == nullptr) {
    slot = earliest(chunk, State::travelling);
  }
  if (slot == nullptr) {
    slot = &add_slot(chunk);
  } else if (slot->state == State::travelling) {
    arrive(*slot);
  }
  slot->mb = mb;
  slot->state = State::filling;
  for (Buffer<T>& whole : slot->whole) {
    whole.clear();
  }
  return *slot;
}

template <class T>
typename GradientSums<T>::Slot& GradientSums<T>::add_slot(int chunk) {
  Slot& slot = slots_.emplace_back();
  slot.chunk = chunk;
  for (StoredBucket<T>& bucket : params_.buckets()) {
    if (bucket.plan.chunk == chunk) {
      slot.buckets.push_back(&bucket);
      slot.whole.emplace_back(parts_.backend, MemoryTag::buffer, bucket.plan.count());
      slot.part.emplace_back(parts_.backend, MemoryTag::buffer,
                             bucket.plan.part_count(params_.part()));
    }
  }
  return slot;
}

template <class T>
void GradientSums<T>::bind(Slot& slot) {
  for (std::size_t i = 0; i < slot.buckets.size(); ++i) {
    for (const Bucket::Entry& entry : slot.buckets[i]->plan.entries) {
      params_.all()[entry.item].grad = slot.whole[i].data() + entry.first;
    }
  }
}

template <class T>
void GradientSums<T>::complete(int chunk, int step, int mb) {
  if (params_.rules().stage < 2) {
    return;
  }
  Slot& slot = slot_for(chunk, mb);
  if (mb + 1 == parts_.spec.micro_batches && parts_.faults.fires("last_scatter_left_out")) {
    slot.state = State::free;
    return;
  }
  for (std::size_t i = 0; i < slot.buckets.size(); ++i) {
    slot.sums.push_back(payload_.start(
        scatter_of(slot.buckets[i]->plan, payload_of(slot.whole[i].data(), slot.whole[i].count()),
                   payload_of(slot.part[i].data(), slot.part[i].count()), site_of(-1, step, mb))));
    if (!parts_.spec.overlap) {
      payload_.wait(slot.sums.back());
    }
  }
  slot.state = State::travelling;
  if (!parts_.spec.overlap) {
    slot.sums.clear();
    arrive(slot);
  }
}

template <class T>
Collective GradientSums<T>::scatter_of(const Bucket& plan, const Payload& whole,
                                       const Payload& part, const Site& site) const {
  Collective scatter;
  scatter.kind = CollectiveKind::reduce_scatter;
  scatter.group = dp_;
  scatter.input = whole;
  scatter.output = part;
  scatter.output_parts = plan.parts;
  scatter.site = site;
  return scatter;
}

template <class T>
void GradientSums<T>::arrive(Slot& slot) {
  for (auto& sum : slot.sums) {
    payload_.wait(sum);
  }
  slot.sums.clear();
  for (std::size_t i = 0; i < slot.buckets.size(); ++i) {
    Buffer<T>& sum = slot.buckets[i]->gradients;
    const int late = elements_late(slot.part[i]);
    const int count = static_cast<int>(sum.count());
    parts_.backend.run(AddInto<T>{slot.part[i].data() + late, sum.data(), count - late});
    if (parts_.faults.fires("mean_of_sums_so_far")) {
      parts_.backend.run(Divide<T>{sum.data(), count, static_cast<T>(parts_.spec.micro_batches)});
    }
  }
  slot.state = State::free;
}

/// 1 where a planted fault has every part but the first begin one element late.
template <class T>
int GradientSums<T>::elements_late(const Buffer<T>& part) {
  const bool later = params_.part() > 0 && part.count() > 0;
  return later && parts_.faults.fires("part_one_late") ? 1 : 0;
}

template <class T>
void GradientSums<T>::reduce(int step) {
  if (params_.rules().stage >= 2) {
    for (const Slot& slot : slots_) {
      assert(slot.state != State::filling);
      while (Slot* const next = earliest(slot.chunk, State::travelling)) {
        arrive(*next);
      }
    }
    return;
  }
  plant_in_gradients(parts_.faults, parts_.backend, params_, parts_.spec.sequence_parallel);
  for (StoredBucket<T>& bucket : params_.buckets()) {
    params_.rules().stage == 0 ? reduce_whole(bucket, step) : reduce_to_parts(bucket, step);
  }
}

template <class T>
void GradientSums<T>::reduce_whole(StoredBucket<T>& bucket, int step) {
  for (const Bucket::Entry& entry : bucket.plan.entries) {
    record_contribution(params_.all()[entry.item], step);
  }
  const Param<T>& first = params_.all()[bucket.plan.entries.front().item];
  if (params_.rules().one_each() && left_out(first, step)) {
    return;
  }
  const int layer = params_.rules().one_each() ? first.spec.layer : -1;
  Collective sum;
  sum.kind = CollectiveKind::all_reduce;
  sum.group = dp_;
  sum.input = sum.output = payload_of(bucket.gradients.data(), bucket.gradients.count());
  sum.site = site_of(layer, step, 0);
  payload_.carry_out(sum);
}

/// A planted fault leaves one parameter's sum out.
template <class T>
bool GradientSums<T>::left_out(const Param<T>& param, int step) {
  const FaultPlace place = {param.spec.layer, "grad.dp", "grad", step, parts_.mesh.rank()};
  return param.spec.name == "layer0.norm1.weight" && parts_.faults.fires("skip_dp_grad", place);
}

template <class T>
void GradientSums<T>::reduce_to_parts(StoredBucket<T>& bucket, int step) {
  const Bucket& plan = bucket.plan;
  const int part = params_.part();
  Buffer<T> sum(parts_.backend, MemoryTag::buffer, plan.part_count(part));
  payload_.carry_out(scatter_of(plan, payload_of(bucket.gradients.data(), bucket.gradients.count()),
                                payload_of(sum.data(), sum.count()), site_of(-1, step, 0)));
  const int late = elements_late(sum);
  parts_.backend.run(Copy<T>{sum.data() + late, bucket.gradients.data() + plan.part_begin(part),
                             static_cast<int>(sum.count()) - late});
}

template <class T>
void GradientSums<T>::record_contribution(const Param<T>& param, int step) {
  if (!parts_.recorder.wants_local()) {
    return;
  }
  std::vector<T> held(static_cast<std::size_t>(param.slice.logical));
  parts_.backend.download(param.grad, held.data(), held.size() * sizeof(T));
  parts_.recorder.record_local(fmt::format("step{}/grad.dp/contribution/{}", step, param.spec.name),
                               param.slice.box.extent,
                               std::vector<double>(held.begin(), held.end()));
}

template class GradientSums<double>;
template class GradientSums<float>;

}  // namespace meshparity
