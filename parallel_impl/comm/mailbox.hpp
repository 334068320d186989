// What one rank has sent to one other and the other has not taken yet, first in first out.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "parallel_impl/comm/collective.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

class Mailbox {
 public:
  Mailbox(WorldState& state, int from, int to) : state_(state), from_(from), to_(to) {}

  /// Copies the payload: a send never waits. Throws PeerFailed when a rank has failed.
  void put(const Collective& request, const CollectiveRow& row);
  /// Waits for the next message. Throws Error when it belongs to another call (role, phase, step,
  /// micro-batch, type, count), when the sender has ended, or when nothing moves for the limit;
  /// PeerFailed when a rank has failed.
  void take(const Collective& request, const CollectiveRow& row);
  /// Messages that nobody took.
  std::size_t left() const;
  /// Makes the receiver look again.
  void wake();

 private:
  struct Message {
    CollectiveRow row;
    Site site;
    std::vector<std::byte> bytes;
    std::int64_t clock = 0;
  };
  void await_message(std::unique_lock<std::mutex>& guard, const CollectiveRow& row);
  [[noreturn]] void fail_and_throw(const std::string& what);

  WorldState& state_;
  int from_;
  int to_;
  mutable std::mutex lock_;
  std::condition_variable condition_;
  std::deque<Message> messages_;
};

}  // namespace meshparity
