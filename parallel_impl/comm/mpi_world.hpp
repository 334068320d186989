// The ranks of one case as processes of an MPI launch: messages between them, and what they know of
// each other.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel_impl/comm/world_state.hpp"

namespace meshparity {

/// Every process of the launch makes the worlds of the same cases in the same order, those too that
/// are no rank of one.
class MpiWorld {
 public:
  /// What a message is part of. Messages of a stream from one rank to another arrive in order.
  enum class Stream { collective, sum, message };

  /// One coordinate a rank ("dp0 tp1"), for messages; the launch has at least as many processes.
  MpiWorld(std::vector<std::string> coordinates, std::chrono::milliseconds limit);
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  /// False in a process that has nothing to do in this case.
  bool takes_part() const { return rank_ < size(); }
  int rank() const { return rank_; }
  int size() const { return state_->size(); }
  std::chrono::steady_clock::time_point launch() const { return launch_; }
  /// On each machine, what its own ranks know of each other; a failure is told across machines.
  WorldState& state() { return *state_; }
  const WorldState& state() const { return *state_; }

  /// Keeps the bytes until they have gone: a send never waits.
  void send(int to, Stream stream, std::vector<std::byte> bytes);
  /// Waits for the next message of a stream. Throws Error when the sender has ended or nothing
  /// moves for the limit, PeerFailed when a rank has failed. `row` is the call that asks.
  std::vector<std::byte> take(int from, Stream stream, const CollectiveRow& row);

  /// This rank's failure, told to all ranks.
  void poison(const std::string& why);
  /// This rank will enter nothing more.
  void end() { state_->end(rank_); }
  /// The sum of one number a rank, when all ranks have come here. Throws PeerFailed when one fails.
  std::int64_t await_all(std::int64_t value);

 private:
  struct Handles;
  bool arrived(int from, Stream stream);
  bool progress();
  template <class Done>
  bool nap(const Done& done, std::chrono::milliseconds longest);

  std::chrono::steady_clock::time_point launch_ = std::chrono::steady_clock::now();
  int rank_ = 0;
  std::unique_ptr<Handles> handles_;
  std::optional<WorldState> state_;
};

}  // namespace meshparity
