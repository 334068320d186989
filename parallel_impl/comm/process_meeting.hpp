// One collective of one rank among processes: it shows its call and its input in shared memory,
// finds those of its peers, and keeps its own until all have read. The counterpart of Rendezvous.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel_impl/comm/call_agreement.hpp"
#include "parallel_impl/comm/exchange.hpp"
#include "parallel_impl/comm/packed_call.hpp"
#include "parallel_impl/comm/patient_wait.hpp"
#include "parallel_impl/comm/process_world.hpp"

namespace meshparity {

class ProcessMeeting {
 public:
  /// `mine` is call number `number` of this rank, from 1, and number `sequence` of its group.
  ProcessMeeting(ProcessWorld& world, const Entry& mine, std::uint64_t number,
                 std::uint64_t sequence);

  /// Returns when all members show their calls. Throws Error when one of them is in another call
  /// of this group, has ended, or does not come while nothing moves; PeerFailed when a rank has
  /// failed.
  void enter();
  /// After enter: what all have shown, by index in the group.
  std::vector<Shown> shown() const;
  /// After enter: where the group's sum is made.
  std::byte* sum() const { return world_.sum(members().front()); }
  /// Returns when all have come to the stage; throws as enter() does, for a rank may be killed
  /// anywhere.
  void reach(ProcessLine::Stage stage);

 private:
  const std::vector<int>& members() const { return mine_.request->group.ranks; }
  int rank() const { return world_rank(mine_); }
  void show() const;
  void advance(ProcessLine::Stage stage) const;
  bool shows_this_call(int member) const;
  void find_members();
  void refuse_unlike(std::size_t index) const;
  template <class Missing>
  void await(const Missing& missing);
  [[noreturn]] void fail_and_throw(const std::string& what) const;

  ProcessWorld& world_;
  Entry mine_;
  std::uint64_t number_;
  std::uint64_t group_;
  std::uint64_t sequence_;
  std::vector<std::uint64_t> calls_;  // of each member, its number of this call; 0: not found yet
  std::vector<UnpackedCall> unpacked_;
};

}  // namespace meshparity
