#include "parallel_impl/comm/rendezvous.hpp"

#include <algorithm>
#include <string>

#include "fixtures/error.hpp"

namespace meshparity {
Rendezvous::Rendezvous(WorldState& state, int size)
    : state_(state), entries_(static_cast<std::size_t>(size)) {}

void Rendezvous::enter(const Entry& mine) {
  std::unique_lock guard(lock_);
  if (state_.failed()) {
    state_.throw_peer_failed(*mine.row, world_rank(mine));
  }
  refuse_unlike(mine);
  entries_[static_cast<std::size_t>(mine.request->group.index)] = mine;
  const std::uint64_t meeting = admitted_.load(std::memory_order_relaxed) + 1;
  if (++inside_ == static_cast<int>(entries_.size())) {
    refuse_unlike_parts(mine);
    admit_all();
    return;
  }
  const auto complete = [&] { return admitted_.load(std::memory_order_acquire) >= meeting; };
  guard.unlock();
  if (yield_until(complete)) {
    return;
  }
  guard.lock();
  const WaitEnd end = wait_patiently(nap_on(condition_, guard), state_, complete,
                                     [&] { return !missing_that_ended(mine).empty(); });
  if (end != WaitEnd::done) {
    give_up(mine, end);
  }
}

void Rendezvous::leave() {
  const std::uint64_t meeting = admitted_.load(std::memory_order_relaxed);
  {
    const std::lock_guard guard(lock_);
    if (++leaving_ == static_cast<int>(entries_.size())) {
      std::fill(entries_.begin(), entries_.end(), Entry{});
      leaving_ = 0;
      inside_ = 0;
      dissolved_.store(meeting, std::memory_order_release);
      condition_.notify_all();
      return;
    }
  }
  const auto dissolved = [&] { return dissolved_.load(std::memory_order_acquire) >= meeting; };
  if (!yield_until(dissolved)) {
    std::unique_lock guard(lock_);
    condition_.wait(guard, dissolved);
  }
}

void Rendezvous::wake() {
  const std::lock_guard guard(lock_);
  condition_.notify_all();
}

void Rendezvous::refuse_unlike(const Entry& mine) const {
  for (const Entry& other : entries_) {
    if (other.request == nullptr) {
      continue;
    }
    const std::string difference = describe_difference(state_, mine, other);
    if (!difference.empty()) {
      fail_and_throw(mine, difference);
    }
    return;  // the others inside were compared with this one
  }
}

void Rendezvous::refuse_unlike_parts(const Entry& mine) const {
  if (mine.request->kind == CollectiveKind::all_to_all) {
    const std::string difference = describe_unlike_parts(state_, mine, entries_);
    if (!difference.empty()) {
      fail_and_throw(mine, difference);
    }
  }
}

void Rendezvous::admit_all() {
  const Collective& request = *entries_.front().request;
  const std::size_t bytes =
      request.kind == CollectiveKind::all_reduce
          ? static_cast<std::size_t>(request.input.count) * element_bytes(request.input.type)
          : 0;
  if (shared_.size() < bytes) {
    shared_.resize(bytes);
  }
  admitted_.fetch_add(1, std::memory_order_release);
  condition_.notify_all();
}

std::vector<int> Rendezvous::missing(const Entry& mine) const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].request == nullptr) {
      ranks.push_back(mine.request->group.ranks[i]);
    }
  }
  return ranks;
}

std::vector<int> Rendezvous::missing_that_ended(const Entry& mine) const {
  std::vector<int> ranks = missing(mine);
  std::erase_if(ranks, [&](int rank) { return !state_.has_ended(rank); });
  return ranks;
}

void Rendezvous::give_up(const Entry& mine, WaitEnd end) const {
  const int rank = world_rank(mine);
  if (end == WaitEnd::peer_failed) {
    state_.throw_peer_failed(*mine.row, rank);
  }
  fail_and_throw(mine, describe_wait(state_, rank, *mine.row, missing(mine), end));
}

void Rendezvous::fail_and_throw(const Entry& mine, const std::string& what) const {
  state_.fail(world_rank(mine), what);
  throw Error(what);
}

}  // namespace meshparity
