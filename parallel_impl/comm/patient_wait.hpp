// How a rank waits for its peers: yield a little, then nap, with a limit that counts only time in
// which nothing in the world moves.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// Gives others the processor a few times; true as soon as `done` holds. 16 ranks on 2 cores need
/// their turns, and most meetings end within a few of them.
template <class Done>
bool yield_until(const Done& done) {
  constexpr int kTurns = 32;
  for (int turn = 0; turn < kTurns; ++turn) {
    if (done()) {
      return true;
    }
    std::this_thread::yield();
  }
  return done();
}

enum class WaitEnd { done, peer_failed, peer_ended, nothing_moves };

/// Naps until `done` holds (asked first, so that what is complete is never given up), a rank has
/// failed, `hopeless` holds (a missing peer has ended), or nothing moved for the limit. The limit
/// is counted in naps: a process that was stopped for an hour has not waited an hour. `nap` sleeps
/// for the time given at most, and is true when it was woken.
template <class Nap, class Done, class Hopeless>
WaitEnd wait_patiently(const Nap& nap, const WorldState& state, const Done& done,
                       const Hopeless& hopeless) {
  constexpr int kNaps = 10;
  std::uint64_t seen = state.moves();
  for (int still = 0; still < kNaps;) {
    if (done()) {
      return WaitEnd::done;
    }
    if (state.failed()) {
      return WaitEnd::peer_failed;
    }
    if (hopeless()) {
      return WaitEnd::peer_ended;
    }
    const bool woken = nap(state.limit() / kNaps);
    const std::uint64_t now = state.moves();
    still = woken || now != seen ? 0 : still + 1;
    seen = now;
  }
  return done() ? WaitEnd::done : WaitEnd::nothing_moves;
}

/// A nap on a condition, for ranks that are threads.
inline auto nap_on(std::condition_variable& condition, std::unique_lock<std::mutex>& lock) {
  return [&condition, &lock](std::chrono::milliseconds longest) {
    return condition.wait_for(lock, longest) == std::cv_status::no_timeout;
  };
}

/// "rank 0 (tp0) waits in all_reduce ... for rank 1 (tp1), which ..., and has ended": why `rank`
/// gives up the call of `row`. `missing` have not come.
std::string describe_wait(const WorldState& state, int rank, const CollectiveRow& row,
                          const std::vector<int>& missing, WaitEnd end);

}  // namespace meshparity
