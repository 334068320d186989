// Comm between threads of one process; sums are made here, in canonical order.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/pending_calls.hpp"
#include "parallel_impl/comm/thread_world.hpp"

namespace meshparity {

class ThreadComm final : public Comm {
 public:
  /// The world outlives all its ranks' comms.
  ThreadComm(ThreadWorld& world, int rank, Completion when = Completion::lazy);

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
  void carry(const Collective& request, const CollectiveRow& row);
  void meet(const Collective& request, const CollectiveRow& row);
  Rendezvous& place_of(const CommGroup& group);

  ThreadWorld& world_;
  int rank_;
  std::map<std::vector<int>, Rendezvous*> places_;
  PendingCalls pending_;
};

}  // namespace meshparity
