// Comm between processes of one machine, over memory that they share; sums are made here, in
// canonical order.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/pending_calls.hpp"
#include "parallel_impl/comm/process_messages.hpp"
#include "parallel_impl/comm/process_world.hpp"

namespace meshparity {

class ProcessComm final : public Comm {
 public:
  /// Made in the rank's own process; the world was made before it was forked.
  ProcessComm(ProcessWorld& world, int rank, Completion when = Completion::lazy);

  int rank() const override { return rank_; }
  int world() const override { return world_.size(); }
  void poison(const std::string& why) override { world_.poison(rank_, why); }

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override {
    return pending_.start(request, row);
  }
  void transport_wait(Ticket ticket) override { pending_.wait(ticket); }
  void transport_at_once(const Collective& request, const CollectiveRow& row) override {
    pending_.at_once(request, row);
  }

 private:
  void move(const Collective& request, const CollectiveRow& row);
  void meet(const Collective& request, const CollectiveRow& row);

  ProcessWorld& world_;
  int rank_;
  ProcessMessages messages_;
  std::uint64_t calls_ = 0;
  std::map<std::vector<int>, std::uint64_t> calls_of_group_;  // by its ranks, ascending
  PendingCalls pending_;
};

}  // namespace meshparity
