// Where a list of collectives first leaves the list that was due, and how: left out, done twice,
// out of order, or with another group, kind or size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fixtures/dump.hpp"

namespace meshparity {

struct CallFault {
  std::int64_t sequence = 0;  // the number at which it shows
  int step = 0;
  int mb = 0;
  std::string site;  // of the call that is missing, wrong or too many
  std::string text;  // "layer0.mlp.down/forward left out: expected ...; did ..."
};

/// Both lists are of one rank and one step, or of a whole run whose steps overlap.
/// `sequence_before`: of the last call of the step before.
std::optional<CallFault> first_call_fault(std::span<const CollectiveRow> due,
                                          std::span<const CollectiveRow> done,
                                          std::int64_t sequence_before);

/// Where two ranks of a group disagree about it: `mine` and `theirs` are their calls in this group,
/// in order. Sites and sizes must be equal; nothing is said about what was due.
struct GroupFault {
  std::size_t call = 0;  // which of the group's calls, from 0
  std::string mine;
  std::string theirs;
};
std::optional<GroupFault> first_group_fault(std::span<const CollectiveRow> mine,
                                            std::span<const CollectiveRow> theirs);

}  // namespace meshparity
