#include "parallel_impl/model/value_gather.hpp"

#include <algorithm>
#include <cassert>
#include <string>

namespace meshparity {

template <class T>
ValueGather<T>::ValueGather(const Parts& parts, Parameters<T>& params)
    : parts_(parts), params_(params), dp_(parts.mesh.group({Axis::dp})) {}

template <class T>
StoredBucket<T>& ValueGather<T>::holding(std::string_view param) {
  const auto place = static_cast<std::size_t>(&params_.at(param) - params_.all().data());
  const auto found = std::find_if(
      params_.buckets().begin(), params_.buckets().end(), [&](const StoredBucket<T>& bucket) {
        return std::any_of(bucket.plan.entries.begin(), bucket.plan.entries.end(),
                           [&](const Bucket::Entry& entry) { return entry.item == place; });
      });
  assert(found != params_.buckets().end());
  return *found;
}

/// In the table's order; a head that shares the embedding's value takes the embedding's bucket.
template <class T>
std::vector<StoredBucket<T>*> ValueGather<T>::buckets_of(int piece) {
  std::vector<StoredBucket<T>*> buckets;
  for (StoredBucket<T>& bucket : params_.buckets()) {
    if (bucket.plan.piece == piece) {
      const Param<T>& first = params_.all()[bucket.plan.entries.front().item];
      buckets.push_back(first.shares_value ? &holding(first.spec.tied_to) : &bucket);
    }
  }
  return buckets;
}

/// The own part comes from `whole` itself where the bucket holds no other copy of it.
template <class T>
Collective ValueGather<T>::request(const StoredBucket<T>& bucket, T* whole,
                                   const When& when) const {
  const Bucket& plan = bucket.plan;
  const int part = params_.part();
  Collective gather;
  gather.kind = CollectiveKind::all_gather;
  gather.group = dp_;
  gather.input = payload_of(params_.rules().stage == 3 ? const_cast<T*>(bucket.values.data())
                                                       : whole + plan.part_begin(part),
                            plan.part_count(part));
  gather.output = payload_of(whole, plan.count());
  gather.output_parts = plan.parts;
  gather.site = {-1, "param.dp", std::string(when.phase), when.step, when.mb};
  return gather;
}

template <class T>
void ValueGather<T>::prefetch(int piece, const When& when) {
  if (params_.rules().stage < 3 || held_.contains(piece)) {
    return;
  }
  Held& held = held_[piece];
  held.buckets = buckets_of(piece);
  for (const StoredBucket<T>* bucket : held.buckets) {
    T* const whole =
        held.values.emplace_back(parts_.backend, MemoryTag::buffer, bucket->plan.count()).data();
    held.tickets.push_back(parts_.comm.start(request(*bucket, whole, when)));
    if (!parts_.spec.overlap) {
      parts_.comm.wait(held.tickets.back());
      held.tickets.pop_back();
    }
  }
}

template <class T>
void ValueGather<T>::gather(int piece, const When& when) {
  if (params_.rules().stage < 3) {
    return;
  }
  prefetch(piece, when);
  arrive(held_.at(piece));
}

template <class T>
void ValueGather<T>::arrive(Held& held) {
  for (const Ticket ticket : held.tickets) {
    parts_.comm.wait(ticket);
  }
  held.tickets.clear();
  for (std::size_t i = 0; i < held.buckets.size(); ++i) {
    if (parts_.faults.fires("stale_values")) {
      make_stale(*held.buckets[i], held.values[i]);
    }
    bind(held.buckets[i]->plan, held.values[i].data());
  }
}

/// A planted fault: what was gathered once is never gathered again.
template <class T>
void ValueGather<T>::make_stale(const StoredBucket<T>& bucket, Buffer<T>& values) {
  const auto count = static_cast<int>(values.count());
  const auto [first, is_first] = stale_.try_emplace(&bucket);
  if (is_first) {
    first->second = Buffer<T>(parts_.backend, MemoryTag::buffer, count);
    parts_.backend.run(Copy<T>{values.data(), first->second.data(), count});
  }
  parts_.backend.run(Copy<T>{first->second.data(), values.data(), count});
}

/// Null takes the values away.
template <class T>
void ValueGather<T>::bind(const Bucket& plan, T* whole) {
  for (const Bucket::Entry& entry : plan.entries) {
    Param<T>& param = params_.all()[entry.item];
    param.value = whole == nullptr ? nullptr : whole + entry.first;
    for (Param<T>& other : params_.all()) {
      if (other.shares_value && other.spec.tied_to == param.spec.name) {
        other.value = param.value;
      }
    }
  }
}

template <class T>
void ValueGather<T>::release(int piece) {
  const auto found = held_.find(piece);
  if (found == held_.end()) {
    return;
  }
  assert(found->second.tickets.empty());
  for (const StoredBucket<T>* bucket : found->second.buckets) {
    bind(bucket->plan, nullptr);
  }
  held_.erase(found);
}

template <class T>
void ValueGather<T>::share(int step) {
  const int stage = params_.rules().stage;
  if (stage != 1 && stage != 2) {
    return;
  }
  for (StoredBucket<T>& bucket : params_.buckets()) {
    if (bucket.values.count() > 0) {
      parts_.comm.carry_out(request(bucket, bucket.values.data(), {"update", step, 0}));
    }
  }
}

template class ValueGather<double>;
template class ValueGather<float>;

}  // namespace meshparity
