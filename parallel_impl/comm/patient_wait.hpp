// How a rank waits for its peers: yield a little, then sleep on a condition with a limit that
// counts only time in which nothing in the world moves.
#pragma once
#include <condition_variable>
#include <mutex>
#include <thread>

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

/// Sleeps until `done` holds (asked first, so that what is complete is never given up), a rank has
/// failed, `hopeless` holds (a missing peer has ended), or nothing moved for the limit. The limit
/// is counted in naps: a process that was stopped for an hour has not waited an hour.
template <class Done, class Hopeless>
WaitEnd wait_patiently(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                       const WorldState& state, const Done& done, const Hopeless& hopeless) {
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
    const bool woken =
        condition.wait_for(lock, state.limit() / kNaps) == std::cv_status::no_timeout;
    const std::uint64_t now = state.moves();
    still = woken || now != seen ? 0 : still + 1;
    seen = now;
  }
  return done() ? WaitEnd::done : WaitEnd::nothing_moves;
}

}  // namespace meshparity
