#include "parallel_impl/pipeline/planted_actions.hpp"

#include <algorithm>

namespace meshparity {
namespace {

using Place = ActionList::iterator;

Place place_of(ActionList& list, ActionKind kind, int mb) {
  return std::find_if(list.begin(), list.end(),
                      [&](const Action& action) { return action.kind == kind && action.mb == mb; });
}

/// Micro-batches 0 and 1 take each other's turns.
void swap_first_two(ActionList& list, ActionKind kind) {
  for (Action& action : list) {
    action.mb = action.kind == kind && action.mb < 2 ? 1 - action.mb : action.mb;
  }
}

/// Only where both backward passes are over when the first weights' turn comes.
bool can_swap_weights(ActionList& list) {
  const Place weights = place_of(list, ActionKind::weight, 0);
  return weights != list.end() && place_of(list, ActionKind::backward, 1) < weights;
}

void drop_last(ActionList& list, ActionKind kind) {
  const auto last = std::find_if(list.rbegin(), list.rend(),
                                 [&](const Action& action) { return action.kind == kind; });
  list.erase(std::next(last).base());
}

}  // namespace

ActionList planted_actions(ActionList list, Schedule schedule, FaultPlan& faults) {
  if (can_swap_weights(list) && faults.fires("weights_swapped")) {
    swap_first_two(list, ActionKind::weight);
  }
  if (splits_backward(schedule) && faults.fires("last_weights_undone")) {
    drop_last(list, ActionKind::weight);
  }
  if (schedule == Schedule::gpipe && faults.fires("backwards_swapped")) {
    for (const ActionKind kind :
         {ActionKind::backward, ActionKind::send_backward, ActionKind::receive_backward}) {
      swap_first_two(list, kind);
    }
  }
  return list;
}

bool sums_before(const ActionList& list, const Action& action, Schedule schedule,
                 FaultPlan& faults) {
  if (schedule != Schedule::one_f_one_b || action.kind != ActionKind::backward) {
    return false;
  }
  const auto last = std::find_if(list.rbegin(), list.rend(), [](const Action& each) {
    return each.kind == ActionKind::backward;
  });
  return action == *last && faults.fires("sums_in_cooldown");
}

}  // namespace meshparity
