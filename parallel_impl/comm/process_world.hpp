// The ranks of one case as processes of one machine: the memory they share. Made before they are
// forked; it has no lock that a killed rank could hold.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/stored_text.hpp"
#include "parallel_impl/comm/shared_memory.hpp"
#include "parallel_impl/comm/thread_world.hpp"
#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// What one rank shows of the call that it is in; only it writes, but for the bell.
struct ProcessLine {
  /// How far a rank has come in a call. Its line may be read by the call's members from `shown`
  /// until they have all come to `read`.
  enum Stage : std::uint64_t { writing, shown, summed, read };
  static constexpr std::uint64_t kStages = 4;

  std::atomic<std::uint64_t> progress;  // number of the call, from 1, x kStages + Stage
  std::atomic<std::uint64_t> group;     // a hash of its ranks
  std::atomic<std::uint64_t> sequence;  // the how-manieth call of that group
  std::atomic<std::uint32_t> bell;      // others add 1 when there is something new to look at
  std::atomic<std::uint32_t> sleeping;
  StoredText<128> error;  // what the rank threw
  std::uint64_t packed_bytes;
  std::array<std::byte, 16384> packed;  // pack_call
};

/// Messages from one rank to another that lie in the sender's outbox.
struct ProcessPair {
  static constexpr std::uint64_t kMost = 256;
  std::atomic<std::uint64_t> sent;
  std::atomic<std::uint64_t> taken;
  std::array<std::atomic<std::uint64_t>, kMost> places;  // of message i: [i % kMost]
};

class ProcessWorld {
 public:
  /// Bytes that one rank can show, sum for others, or have under way: 32 Mi elements of float64.
  static constexpr std::size_t kAreaBytes = std::size_t{256} << 20;

  /// One coordinate a rank ("dp0 tp1"), for messages.
  explicit ProcessWorld(std::vector<std::string> coordinates,
                        std::chrono::milliseconds limit = kDefaultTimeLimit);

  int size() const { return state_.size(); }
  std::chrono::steady_clock::time_point launch() const { return launch_; }
  WorldState& state() { return state_; }
  const WorldState& state() const { return state_; }

  ProcessLine& line(int rank) const;
  ProcessPair& pair(int from, int to) const;
  std::byte* exhibit(int rank) const { return area(rank, 0); }  // its input
  std::byte* sum(int rank) const { return area(rank, 1); }      // made for a group it leads
  std::byte* outbox(int rank) const { return area(rank, 2); }

  /// Makes a rank that sleeps look again.
  void ring(int rank) const;
  void ring_all() const;
  /// Sleeps until the rank's bell has gone beyond `heard`; true when it has. `heard` is what it
  /// stands at then.
  bool sleep(int rank, std::uint32_t& heard, std::chrono::milliseconds longest) const;

  /// The rank will enter nothing more; whoever waits for it gives up at once.
  void end(int rank);
  /// The rank has failed; every peer's wait ends with its name. Only the first is remembered.
  void poison(int rank, const std::string& why);
  std::optional<RankFailure> first_failure() const { return state_.first_failure(); }
  /// Returns when all ranks have ended; throws PeerFailed when one has failed.
  void await_all_ended(int rank) const;
  /// Messages that were sent and never taken; asked when all ranks have ended.
  std::uint64_t messages_left() const;

 private:
  std::byte* area(int rank, std::size_t which) const;

  std::chrono::steady_clock::time_point launch_ = std::chrono::steady_clock::now();
  WorldState state_;
  SharedMemory lines_;
  SharedMemory pairs_;
  SharedMemory areas_;
};

}  // namespace meshparity
