#include "parallel_impl/pipeline/weight_stash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity {

std::map<int, int> reads_of(const ActionList& list) {
  std::map<int, int> reads;
  for (const Action& action : list) {
    if (is_pass(action.kind)) {
      ++reads[action.version];
    }
  }
  return reads;
}

template <class T>
WeightStash<T>::WeightStash(Parameters<T>& params, Backend<T>& backend, FaultPlan& faults,
                            std::map<int, int> reads)
    : params_(params), backend_(backend), faults_(faults), reads_(std::move(reads)) {}

template <class T>
void WeightStash<T>::use(int version) {
  auto copies = older_.find(version);
  if (copies == older_.end() && version != newest_) {
    if (!is_too_short_) {
      throw Error(fmt::format(
          "weights of version {} are asked for, {} updates were made, and no copy is held", version,
          newest_));
    }
    copies = older_.begin();
  }
  for (std::size_t i = 0; i < params_.buckets().size(); ++i) {
    StoredBucket<T>& bucket = params_.buckets()[i];
    T* const values = copies == older_.end() ? bucket.values.data() : copies->second[i].data();
    for (const Bucket::Entry& entry : bucket.plan.entries) {
      params_.all()[entry.item].value = values + entry.first;
    }
  }
}

template <class T>
void WeightStash<T>::read(int version) {
  --reads_[version];
  drop_what_nobody_reads();
}

template <class T>
void WeightStash<T>::begin_update() {
  if (reads_[newest_] > 0) {
    older_.emplace(newest_, copy_of_newest());
  }
  ++newest_;
  plant();
  use_newest();
}

/// A fault: one version less than will be read.
template <class T>
void WeightStash<T>::plant() {
  if (!older_.empty() && faults_.fires("stash_too_short")) {
    older_.erase(older_.begin());
    is_too_short_ = true;
  }
}

template <class T>
typename WeightStash<T>::Copies WeightStash<T>::copy_of_newest() const {
  Copies copies;
  for (const StoredBucket<T>& bucket : params_.buckets()) {
    const std::int64_t count = bucket.values.count();
    Buffer<T>& copy = copies.emplace_back(backend_, MemoryTag::parameter, count);
    backend_.run(Copy<T>{bucket.values.data(), copy.data(), static_cast<int>(count)});
  }
  return copies;
}

template <class T>
void WeightStash<T>::drop_what_nobody_reads() {
  const auto unread = [&](const auto& entry) { return reads_.at(entry.first) <= 0; };
  const bool any = std::any_of(older_.begin(), older_.end(), unread);
  if (any && !faults_.fires("old_versions_kept")) {
    std::erase_if(older_, unread);
  }
}

template <class T>
std::vector<int> WeightStash<T>::held() const {
  std::vector<int> versions;
  for (const auto& [version, copies] : older_) {
    versions.push_back(version);
  }
  versions.push_back(newest_);
  return versions;
}

template class WeightStash<double>;
template class WeightStash<float>;

}  // namespace meshparity
