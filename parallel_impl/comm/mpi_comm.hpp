// Comm over MPI: point-to-point messages only; sums are made here, in canonical order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parallel_impl/comm/call_agreement.hpp"
#include "parallel_impl/comm/comm.hpp"
#include "parallel_impl/comm/mpi_world.hpp"
#include "parallel_impl/comm/packed_call.hpp"
#include "parallel_impl/comm/pending_calls.hpp"

namespace meshparity {

class MpiComm final : public Comm {
 public:
  /// The world outlives this.
  explicit MpiComm(MpiWorld& world, Completion when = Completion::lazy);

  int rank() const override { return world_.rank(); }
  int world() const override { return world_.size(); }
  void poison(const std::string& why) override { world_.poison(why); }
  /// Messages sent less messages taken; over all ranks, what nobody took.
  std::int64_t messages_balance() const { return balance_; }

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override {
    return pending_.start(request, row);
  }
  void transport_wait(Ticket ticket) override { pending_.wait(ticket); }
  void transport_at_once(const Collective& request, const CollectiveRow& row) override {
    pending_.at_once(request, row);
  }

 private:
  /// What one member says of its call, and what of its input is for this rank.
  struct Told {
    UnpackedCall call;
    std::vector<std::byte> values;
  };
  void move(const Collective& request, const CollectiveRow& row);
  void send(const Collective& request, const CollectiveRow& row);
  void receive(const Collective& request, const CollectiveRow& row);
  void meet(const Collective& request, const CollectiveRow& row);
  std::vector<Told> tell_each_other(const Collective& request, const CollectiveRow& row);
  void refuse_unlike(const Entry& mine, const std::vector<Told>& told);
  void finish_sum(const Collective& request, const CollectiveRow& row,
                  const std::vector<Told>& told);
  [[noreturn]] void fail_and_throw(const std::string& what);

  MpiWorld& world_;
  std::int64_t balance_ = 0;
  PendingCalls pending_;
};

}  // namespace meshparity
