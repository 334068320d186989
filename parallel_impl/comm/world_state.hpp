// What the ranks of a case know of each other: who moves, who has ended, who failed first, and
// what each last said. Every question may be asked from any thread, and from processes forked after
// it was made: it lies in memory they share and has no lock that a killed rank could hold.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"
#include "fixtures/stored_text.hpp"
#include "parallel_impl/comm/shared_memory.hpp"

namespace meshparity {

/// A rank's own failure as its peers see it: thrown in every rank that waits, never a first cause.
class PeerFailed : public Error {
 public:
  using Error::Error;
};

/// The first rank that failed, and its own words.
struct RankFailure {
  int rank = -1;
  std::string coordinate;
  std::string what;
};

class WorldState {
 public:
  /// One coordinate a rank ("dp0 tp1"); `limit` is how long nothing may move while a rank waits.
  WorldState(std::vector<std::string> coordinates, std::chrono::milliseconds limit);
  /// The same in memory of the caller's, which was zero before its first user and outlives this.
  WorldState(std::vector<std::string> coordinates, std::chrono::milliseconds limit,
             std::byte* memory);
  static std::size_t bytes_for(std::size_t ranks) {
    return sizeof(World) + ranks * sizeof(RankLine);
  }

  int size() const { return static_cast<int>(coordinates_.size()); }
  std::chrono::milliseconds limit() const { return limit_; }
  /// "rank 1 (tp1)"
  std::string name(int rank) const;

  /// A rank enters a collective: it moves, and these are its words.
  void say(int rank, const CollectiveRow& row);
  std::uint64_t moves() const { return world().moves.load(std::memory_order_relaxed); }
  /// "rank 1 (tp1), which last entered all_reduce at layer0.mlp.down/forward (...)"
  std::string last_said(int rank) const;

  void end(int rank);
  bool has_ended(int rank) const;

  /// Only the first failure is kept; failed() holds when this returns. Also called in the name of a
  /// process that has died, by the one that saw it.
  void fail(int rank, const std::string& what);
  bool failed() const { return world().failed.load(std::memory_order_acquire) != 0; }
  std::optional<RankFailure> first_failure() const;
  /// Throws PeerFailed that names the first failure; `row` is what the caller was about to do.
  [[noreturn]] void throw_peer_failed(const CollectiveRow& row, int rank) const;

 private:
  struct World {
    std::atomic<std::uint64_t> moves;
    std::atomic<std::int32_t> first_to_fail;  // rank + 1; its words follow, then `failed`
    std::atomic<std::uint32_t> failed;
    StoredText<512> what;
  };
  struct RankLine {
    std::atomic<std::uint32_t> said;
    std::atomic<std::uint32_t> ended;
    StoredText<96> words;
  };
  World& world() const { return *reinterpret_cast<World*>(memory_); }
  RankLine& line(int rank) const;

  std::vector<std::string> coordinates_;
  std::chrono::milliseconds limit_;
  std::optional<SharedMemory> own_;
  std::byte* memory_;  // a World, then one RankLine a rank
};

/// "all_reduce of 12 float64 at layer0.mlp.down/forward (sequence 3, step 0, micro-batch 1, tp: 0
/// 1)"
std::string describe_call(const CollectiveRow& row);

}  // namespace meshparity
