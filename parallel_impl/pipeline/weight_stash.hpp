// The versions of a stage's weights that an asynchronous pipeline still reads (algorithms.md §3.5).
// Version k is what k updates made of them. The newest lies where the optimizer updates it; an
// older one is a copy, made when the newest is about to change.
#pragma once
#include <map>
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/pipeline/action.hpp"

namespace meshparity {

/// How many passes of a list read each version.
std::map<int, int> reads_of(const ActionList& list);

template <class T>
class WeightStash {
 public:
  /// A version is held from the update that makes it until the last of its `reads` is over, the
  /// newest always. Everything referenced outlives it.
  WeightStash(Parameters<T>& params, Backend<T>& backend, FaultPlan& faults,
              std::map<int, int> reads);

  /// Parameters have the values of this version from now on. Throws Error where it is not held;
  /// where a planted fault dropped it, they have those of the oldest that is.
  void use(int version);
  void use_newest() { use(newest_); }
  /// A pass that read the version is over.
  void read(int version);
  /// The newest is about to be updated in its place; it is in use afterwards.
  void begin_update();

  int newest() const { return newest_; }
  /// All versions held, ascending.
  std::vector<int> held() const;

 private:
  using Copies = std::vector<Buffer<T>>;  // one a bucket

  Copies copy_of_newest() const;
  void drop_what_nobody_reads();
  void plant();

  Parameters<T>& params_;
  Backend<T>& backend_;
  FaultPlan& faults_;
  std::map<int, int> reads_;     // still to come, by version
  std::map<int, Copies> older_;  // by version
  int newest_ = 0;
  bool is_too_short_ = false;  // a planted fault dropped what will be read
};

}  // namespace meshparity
