#include "matrix/checks/message_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace meshparity {
namespace {

/// As the ledger of collectives has it: "send pp.activation mb 3".
std::string call_due(const expect::Action& action) {
  using enum expect::ActionKind;
  const bool sends = action.kind == send_forward || action.kind == send_backward;
  const bool onward = action.kind == send_forward || action.kind == receive_forward;
  return fmt::format("{} {} mb {}", sends ? "send" : "receive",
                     onward ? "pp.activation" : "pp.gradient", action.mb);
}

std::vector<std::string> calls_done(std::span<const CollectiveRow> calls) {
  std::vector<std::string> done;
  for (const CollectiveRow& row : calls) {
    if (row.axis == "pp" && (row.kind == "send" || row.kind == "receive")) {
      done.push_back(
          fmt::format("{} {} mb {}", row.kind, row.site.substr(0, row.site.find('/')), row.mb));
    }
  }
  return done;
}

}  // namespace

std::optional<ActionFault> first_call_fault(const expect::ActionList& done,
                                            std::span<const CollectiveRow> calls) {
  const std::vector<std::string> made = calls_done(calls);
  std::size_t next = 0;
  for (std::size_t at = 0; at < done.size(); ++at) {
    if (!expect::is_message(done[at].kind)) {
      continue;
    }
    const std::string call = next < made.size() ? made[next] : "no further call";
    if (call != call_due(done[at])) {
      return ActionFault{at, done[at].mb,
                         fmt::format("{}: the ledger of collectives has {} there",
                                     expect::action_text(done[at]), call)};
    }
    ++next;
  }
  if (next < made.size()) {
    return ActionFault{done.size(), -1,
                       fmt::format("the ledger of collectives has {} besides", made[next])};
  }
  return std::nullopt;
}

}  // namespace meshparity
