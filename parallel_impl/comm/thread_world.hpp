// The ranks of one case as threads of one process: where they meet, and what they know of each
// other. Made once a case and shared by all its ranks; cases share nothing.
#pragma once
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parallel_impl/comm/mailbox.hpp"
#include "parallel_impl/comm/rendezvous.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// How much slower sanitizers make everything that has a time limit.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int kSlowness = 10;
#else
inline constexpr int kSlowness = 1;
#endif
/// How long a rank waits while nothing in its world moves (contracts.md §4, liveness).
inline constexpr std::chrono::milliseconds kDefaultTimeLimit{5000 * kSlowness};

class ThreadWorld {
 public:
  /// One coordinate a rank ("dp0 tp1"), for messages.
  explicit ThreadWorld(std::vector<std::string> coordinates,
                       std::chrono::milliseconds limit = kDefaultTimeLimit);

  int size() const { return state_.size(); }
  /// When the world was made; every rank's ledger counts from here.
  std::chrono::steady_clock::time_point launch() const { return launch_; }
  WorldState& state() { return state_; }

  /// The place of the group with these ranks, in whatever order they are given.
  Rendezvous& rendezvous(std::vector<int> ranks);
  Mailbox& mailbox(int from, int to);

  /// The rank will enter nothing more; whoever waits for it gives up at once.
  void end(int rank);
  /// The rank has failed; every peer's wait ends with its name. Only the first is remembered.
  void poison(int rank, const std::string& why);
  std::optional<RankFailure> first_failure() const { return state_.first_failure(); }
  /// Makes everyone who waits look again.
  void wake_all();
  /// Messages that were sent and never taken; asked when all ranks have ended.
  std::size_t messages_left();

 private:
  std::chrono::steady_clock::time_point launch_ = std::chrono::steady_clock::now();
  WorldState state_;
  std::mutex lock_;
  std::map<std::vector<int>, std::unique_ptr<Rendezvous>> rendezvous_;
  std::map<std::pair<int, int>, std::unique_ptr<Mailbox>> mailboxes_;
};

}  // namespace meshparity
