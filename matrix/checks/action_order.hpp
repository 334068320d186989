// Where a stage's list of actions first leaves what was due, and how: left out, done twice, out of
// order, with weights of another version, or before what it needs.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "matrix/expect/schedule.hpp"

namespace meshparity {

struct ActionFault {
  std::size_t position = 0;  // in the list that was done
  int mb = -1;
  std::string text;  // "W of chunk 1 mb 3 left out: expected ...; did reduce"
};

/// Work, reduce and step of one list, in their order; messages are passed over.
std::optional<ActionFault> first_work_fault(const expect::ActionList& due,
                                            const expect::ActionList& done);

/// Every message that is due stands there once, and no other; whatever needs work or a message of
/// the same list stands behind it. The order is the stage's own otherwise.
std::optional<ActionFault> first_message_fault(const CaseSpec& spec, const expect::ActionList& due,
                                               const expect::ActionList& done);

}  // namespace meshparity
