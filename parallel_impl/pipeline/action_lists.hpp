// The lists of all stages with the messages between them, each in a place where it cannot block.
#pragma once
#include "parallel_impl/pipeline/action.hpp"

namespace meshparity {

/// Logical time that an action takes: F, B and W one, B together with W two; messages none.
int duration_of(ActionKind kind, bool splits);

/// All stages' work is played once on the logical clock; when an action ends whose result another
/// stage needs, its send and the receive enter both lists at that moment. In the one order in which
/// they were entered every message is sent and received at once, so the lists are free of deadlock
/// even where a send waits for its receive.
std::vector<ActionList> action_lists(const CaseSpec& spec, const Stages& stages);

}  // namespace meshparity
