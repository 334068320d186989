// A Comm that plants faults: it asks the fault hooks what to do at each site and does that to the
// collective instead. Used only for cases that have a fault among their events.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/comm/comm.hpp"

namespace meshparity {

/// skip: nothing is moved, each rank keeps its own contribution (all its peers skip alike);
/// twice: done two times, one after the other; cast: the payload is rounded to bfloat16, ties to
/// even, and sent as before (integers are left alone); corrupt: one element of this rank's result
/// is changed; everyone, half, crosswise, reorder: over other ranks or in another order
/// (planted_group.hpp), an all_reduce only; permute: the parts of a gather's result or of a
/// scatter's input in reverse order; delay: this rank begins late, by its number; drop_tail: the
/// last element of this rank's result stays what it was before.
/// This ledger is what the program asked for; `inner`'s is what was done.
class FaultyComm final : public Comm {
 public:
  /// Both outlive this.
  FaultyComm(Comm& inner, FaultPlan& plan) : inner_(inner), plan_(plan) {}

  int rank() const override { return inner_.rank(); }
  int world() const override { return inner_.world(); }
  void poison(const std::string& why) override { inner_.poison(why); }

 protected:
  Ticket transport_start(const Collective& request, const CollectiveRow& row) override;
  void transport_wait(Ticket ticket) override;

 private:
  struct Pending {
    Ticket inner;
    std::optional<CommVerb> verb;
    Payload output;
    std::vector<std::int64_t> parts;
    std::vector<std::byte> own;  // instead of the caller's payload, or the tail that stays
  };
  Pending begin(const Collective& request);
  void begin_with(CommVerb verb, const Collective& request, Pending& pending);
  Ticket start_over(const Collective& request, CommGroup group);
  Ticket start_rounded(Collective request, std::vector<std::byte>& rounded);
  Ticket start_permuted(Collective request, std::vector<std::byte>& permuted);
  static void finish(const Pending& pending);

  Comm& inner_;
  FaultPlan& plan_;
  std::int64_t tickets_ = 0;
  std::map<std::int64_t, Pending> pending_;
};

}  // namespace meshparity
