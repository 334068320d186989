// Messages between ranks that are processes: the sender's outbox in shared memory, first in first
// out for each pair. The counterpart of Mailbox.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "parallel_impl/comm/collective.hpp"
#include "parallel_impl/comm/process_world.hpp"

namespace meshparity {

/// One rank's end.
class ProcessMessages {
 public:
  ProcessMessages(ProcessWorld& world, int rank) : world_(world), rank_(rank) {}

  /// Copies the payload: a send never waits. Throws PeerFailed when a rank has failed, Error when
  /// too much is under way already.
  void put(const Collective& request, const CollectiveRow& row);
  /// Waits for the next message. Throws Error when it belongs to another call (role, phase, step,
  /// micro-batch, type, count), when the sender has ended, or when nothing moves for the limit;
  /// PeerFailed when a rank has failed.
  void take(const Collective& request, const CollectiveRow& row);

 private:
  bool all_taken() const;
  void await_message(int from, const CollectiveRow& row) const;
  [[noreturn]] void fail_and_throw(const std::string& what) const;

  ProcessWorld& world_;
  int rank_;
  std::size_t used_ = 0;  // of the outbox
};

}  // namespace meshparity
