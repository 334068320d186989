// Where the ranks of one group meet for a collective: all enter, all see each other's requests,
// all leave. Calls that do not belong together are refused at the door.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "parallel_impl/comm/call_agreement.hpp"
#include "parallel_impl/comm/patient_wait.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

class Rendezvous {
 public:
  Rendezvous(WorldState& state, int size);

  /// Returns when all have entered. Throws Error when another member entered another collective,
  /// has ended, or does not come while nothing moves; PeerFailed when a rank has failed. Whoever
  /// throws has marked the world as failed first, so nobody reads what it leaves behind.
  void enter(const Entry& mine);
  /// Between enter and leave: every member's entry, by index in the group.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Between enter and leave: bytes shared by the members, as many as the call has elements.
  std::byte* shared() { return shared_.data(); }
  /// Everyone has read from the others what it needs: returns when all have come. Nothing between
  /// enter and leave may throw, so this wait has no limit.
  void leave();
  /// Makes those who wait look again.
  void wake();

 private:
  void refuse_unlike(const Entry& mine) const;
  void refuse_unlike_parts(const Entry& mine) const;
  void admit_all();
  std::vector<int> missing(const Entry& mine) const;
  std::vector<int> missing_that_ended(const Entry& mine) const;
  [[noreturn]] void give_up(const Entry& mine, WaitEnd end) const;
  [[noreturn]] void fail_and_throw(const Entry& mine, const std::string& what) const;

  WorldState& state_;
  std::mutex lock_;
  std::condition_variable condition_;
  std::vector<Entry> entries_;
  std::vector<std::byte> shared_;
  int inside_ = 0;
  int leaving_ = 0;
  std::atomic<std::uint64_t> admitted_ = 0;   // meetings that have become complete
  std::atomic<std::uint64_t> dissolved_ = 0;  // meetings that all have left
};

}  // namespace meshparity
