#include "parallel_impl/pipeline/planted_versions.hpp"

#include <algorithm>

namespace meshparity {

ActionList planted_versions(ActionList list, Schedule schedule, FaultPlan& faults) {
  if (schedule == Schedule::pipedream_vsync && faults.fires("vsync_version_off_by_one")) {
    for (Action& action : list) {
      action.version = std::max(0, action.version - 1);
    }
  }
  return list;
}

int version_read(const Action& pass, int newest, FaultPlan& faults) {
  if (pass.version == newest) {
    return newest;
  }
  const bool is_forward = pass.kind == ActionKind::forward;
  return faults.fires(is_forward ? "forward_with_newest_weights" : "backward_with_newest_weights")
             ? newest
             : pass.version;
}

template <class T>
void StaleStart<T>::keep(const Parameters<T>& params, Backend<T>& backend) {
  kept_.clear();
  for (const StoredBucket<T>& bucket : params.buckets()) {
    const Bucket::Entry& first = bucket.plan.entries.front();
    const T* const in_use = params.all()[first.item].value - first.first;
    const std::int64_t count = bucket.values.count();
    Buffer<T>& copy = kept_.emplace_back(backend, MemoryTag::buffer, count);
    backend.run(Copy<T>{in_use, copy.data(), static_cast<int>(count)});
  }
}

template <class T>
void StaleStart<T>::put(Parameters<T>& params, Backend<T>& backend) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    backend.run(Copy<T>{kept_[i].data(), params.buckets()[i].values.data(),
                        static_cast<int>(kept_[i].count())});
  }
  kept_.clear();
}

template class StaleStart<double>;
template class StaleStart<float>;

}  // namespace meshparity
