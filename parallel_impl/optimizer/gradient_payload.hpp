// How gradients travel between replicas: as they are, or with gradcomm_bf16 as bfloat16. Then each
// rank's contribution is rounded once, sums run in the case's own type, and each sum is rounded
// once.
#pragma once
#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/comm/comm.hpp"

namespace meshparity {

/// Everything referenced outlives it.
template <class T>
class GradientPayload {
 public:
  /// A sum that has been started.
  struct Transit {
    Collective sum;                  // as it was asked for
    Collective sent;                 // what travels in its place, where that is rounded
    Buffer<Bfloat16> input, output;  // of `sent`; an all_reduce has one buffer
    bool rounded = false;
    bool divided = false;  // a planted fault
    Ticket ticket;
  };

  GradientPayload(Comm& comm, Backend<T>& backend, FaultPlan& faults, bool rounded)
      : comm_(comm), backend_(backend), faults_(faults), rounded_(rounded) {}

  /// `sum` is an all_reduce or a reduce_scatter of T. A group of one rounds nothing.
  Transit start(const Collective& sum);
  /// The sum is in its output from here on.
  void wait(Transit& transit);
  /// Start and wait in one.
  void carry_out(const Collective& sum);

 private:
  Transit prepared(const Collective& sum);
  void finish(Transit& transit);
  void divide(Buffer<Bfloat16>& words, double divisor);

  Comm& comm_;
  Backend<T>& backend_;
  FaultPlan& faults_;
  bool rounded_;
};

}  // namespace meshparity
