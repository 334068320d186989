// Comm between threads of one process. Data move at start, but for a receive, which takes its
// message at the wait; sums are made here, in canonical order.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/thread_world.hpp"

namespace meshparity {

class ThreadComm final : public Comm {
 public:
  /// The world outlives all its ranks' comms.
  ThreadComm(ThreadWorld& world, int rank);

  int rank() const override { return rank_; }
  int world() const override { return world_.size(); }
  void poison(const std::string& why) override { world_.poison(rank_, why); }

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override;
  void transport_wait(Ticket ticket) override;

 private:
  struct Receive {
    Collective request;
    CollectiveRow row;
  };
  void begin(const Collective& request, const CollectiveRow& row, std::int64_t ticket);
  void meet(const Collective& request, const CollectiveRow& row);
  Rendezvous& place_of(const CommGroup& group);

  ThreadWorld& world_;
  int rank_;
  std::int64_t tickets_ = 0;
  std::map<std::vector<int>, Rendezvous*> places_;
  std::map<std::int64_t, Receive> receives_;
};

}  // namespace meshparity
