// Planted faults of weight versions in a pipeline that is never flushed: a pass that reads another
// than its list says, a rule that is off by one, an update that starts from an older one.
#pragma once
#include <vector>

#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "parallel_impl/backend/backend.hpp"
#include "parallel_impl/model/parameters.hpp"
#include "parallel_impl/pipeline/action.hpp"

namespace meshparity {

/// The list itself, unless a fault is planted that changes its versions.
ActionList planted_versions(ActionList list, Schedule schedule, FaultPlan& faults);

/// What a pass reads: the version that its list names, or by a fault the newest.
int version_read(const Action& pass, int newest, FaultPlan& faults);

/// A fault: the weights that a backward pass reads are those that the update changes.
template <class T>
class StaleStart {
 public:
  /// After a backward pass that read older weights than the newest: those in use.
  void keep(const Parameters<T>& params, Backend<T>& backend);
  /// The newest become what was kept; nothing happens where nothing was.
  void put(Parameters<T>& params, Backend<T>& backend);

 private:
  std::vector<Buffer<T>> kept_;  // one a bucket
};

}  // namespace meshparity
