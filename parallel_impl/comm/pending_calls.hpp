// Calls that have begun and are not waited for yet, for every transport: when their data move, and
// what their buffers hold meanwhile (contracts.md §7).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "parallel_impl/comm/comm.hpp"

namespace meshparity {

/// When data move. Both give the same bits to a program that keeps to the rules.
enum class Completion {
  lazy,  // at a wait; until its own wait an output holds NaN (integers: all bits set)
  eager  // at the start, but for a receive, whose message may still be on its way
};

/// Whatever the order of the waits, collectives move in the order in which they were started, sends
/// before any of them can block, and the receives from one peer in order. So lazy calls block
/// nowhere where eager ones would not: the first wait for anything moves all that was started, and
/// an output stays NaN until its own wait.
class PendingCalls {
 public:
  /// Carries a call out, and blocks until it is done (a send does not block).
  using CarryOut = std::function<void(const Collective&, const CollectiveRow&)>;
  PendingCalls(Completion when, CarryOut carry_out)
      : when_(when), carry_out_(std::move(carry_out)) {}

  Ticket start(const Collective& request, const CollectiveRow& row);
  void wait(Ticket ticket);
  /// Start and wait in one: nobody sees the time between, so nothing is filled or copied.
  void at_once(const Collective& request, const CollectiveRow& row);

 private:
  struct Call {
    Collective request;  // as it is carried out, its output kept aside
    CollectiveRow row;
    Payload output;  // the caller's
    std::vector<std::byte> aside;
    bool moved = false;
  };
  static void keep_output_aside(Call& call);
  void move(Call& call);
  void move_started();
  void move_receives(const Call& last, std::int64_t before);

  Completion when_;
  CarryOut carry_out_;
  std::int64_t tickets_ = 0;
  std::map<std::int64_t, Call> calls_;
};

}  // namespace meshparity
