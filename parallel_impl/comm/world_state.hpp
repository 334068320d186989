// What the ranks of one process know of each other: who moves, who has ended, who failed first,
// and what each last said. Every question may be asked from any thread.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/error.hpp"

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

  int size() const { return static_cast<int>(coordinates_.size()); }
  std::chrono::milliseconds limit() const { return limit_; }
  /// "rank 1 (tp1)"
  std::string name(int rank) const;

  /// A rank enters a collective: it moves, and these are its words.
  void say(int rank, const CollectiveRow& row);
  std::uint64_t moves() const { return moves_.load(std::memory_order_relaxed); }
  /// "rank 1 (tp1), which last entered all_reduce at layer0.mlp.down/forward (...)"
  std::string last_said(int rank) const;

  void end(int rank);
  bool has_ended(int rank) const;

  /// Only the first failure is kept.
  void fail(int rank, const std::string& what);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  std::optional<RankFailure> first_failure() const;
  /// Throws PeerFailed that names the first failure; `place` is what the caller was about to do.
  [[noreturn]] void throw_peer_failed(const CollectiveRow& row, int rank) const;

 private:
  struct RankLine {
    mutable std::mutex lock;
    CollectiveRow row;
    bool said = false;
    std::atomic<bool> ended = false;
  };

  std::vector<std::string> coordinates_;
  std::chrono::milliseconds limit_;
  std::deque<RankLine> lines_;
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<bool> failed_ = false;
  mutable std::mutex failure_lock_;
  std::optional<RankFailure> failure_;
};

/// "all_reduce of 12 float64 at layer0.mlp.down/forward (sequence 3, step 0, micro-batch 1, tp: 0
/// 1)"
std::string describe_call(const CollectiveRow& row);

}  // namespace meshparity
