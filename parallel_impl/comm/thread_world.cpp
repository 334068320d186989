#include "parallel_impl/comm/thread_world.hpp"

#include <algorithm>

namespace meshparity {

ThreadWorld::ThreadWorld(std::vector<std::string> coordinates, std::chrono::milliseconds limit)
    : state_(std::move(coordinates), limit) {}

Rendezvous& ThreadWorld::rendezvous(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const std::lock_guard guard(lock_);
  std::unique_ptr<Rendezvous>& place = rendezvous_[ranks];
  if (place == nullptr) {
    place = std::make_unique<Rendezvous>(state_, static_cast<int>(ranks.size()));
  }
  return *place;
}

Mailbox& ThreadWorld::mailbox(int from, int to) {
  const std::lock_guard guard(lock_);
  std::unique_ptr<Mailbox>& box = mailboxes_[{from, to}];
  if (box == nullptr) {
    box = std::make_unique<Mailbox>(state_, from, to);
  }
  return *box;
}

void ThreadWorld::end(int rank) {
  state_.end(rank);
  wake_all();
}

void ThreadWorld::poison(int rank, const std::string& why) {
  state_.fail(rank, why);
  wake_all();
}

void ThreadWorld::wake_all() {
  const std::lock_guard guard(lock_);
  for (const auto& [ranks, place] : rendezvous_) {
    place->wake();
  }
  for (const auto& [pair, box] : mailboxes_) {
    box->wake();
  }
}

std::size_t ThreadWorld::messages_left() {
  const std::lock_guard guard(lock_);
  std::size_t left = 0;
  for (const auto& [pair, box] : mailboxes_) {
    left += box->left();
  }
  return left;
}

}  // namespace meshparity
