// Planted faults of a stage's list of actions: work that is left undone or changes places.
#pragma once
#include "fault_injection/fault_plan.hpp"
#include "fixtures/case_spec.hpp"
#include "parallel_impl/pipeline/action.hpp"

namespace meshparity {

/// The list itself, unless a fault is planted that changes it.
ActionList planted_actions(ActionList list, Schedule schedule, FaultPlan& faults);

/// Whether gradients are summed already before this action: a planted fault when 1F1B has only its
/// last backward pass to do.
bool sums_before(const ActionList& list, const Action& action, Schedule schedule,
                 FaultPlan& faults);

}  // namespace meshparity
