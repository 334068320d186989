// A rank's ledger of actions as the lists that a simulator can play.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "fixtures/dump.hpp"
#include "matrix/checks/action_order.hpp"
#include "matrix/expect/simulate.hpp"

namespace meshparity {

/// One list: up to the step that closes it, or of a stream the whole run.
struct ExecutedActions {
  expect::ActionList list;
  std::vector<expect::TimedAction> timed;  // with the ledger's clock
  std::optional<ActionFault> fault;        // the first row that is no action of this case
  bool is_playable = true;                 // every action exists, and every message has another end
};

/// The rows in their order. Rows behind the last step make a list of their own.
std::vector<ExecutedActions> executed_lists(const CaseSpec& spec, std::span<const ActionRow> rows);

}  // namespace meshparity
