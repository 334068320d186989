// The messages that a rank's list of actions names, against those that its transport was asked for:
// two ledgers, written in two places, must tell of the same ones in the same order.
#pragma once
#include <optional>
#include <span>

#include "fixtures/dump.hpp"
#include "matrix/checks/action_order.hpp"

namespace meshparity {

/// `calls` are the collectives of one step; only sends and receives between stages are looked at:
/// "pp.activation" carries what F makes, "pp.gradient" what B makes.
std::optional<ActionFault> first_call_fault(const expect::ActionList& done,
                                            std::span<const CollectiveRow> calls);

}  // namespace meshparity
