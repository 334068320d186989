#include "matrix/checks/action_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <vector>

#include "matrix/expect/simulate.hpp"

namespace meshparity {
namespace {

using expect::Action;
using expect::ActionList;

bool same(const Action& a, const Action& b) {
  return std::tie(a.kind, a.chunk, a.mb) == std::tie(b.kind, b.chunk, b.mb);
}

std::ptrdiff_t times_in(const ActionList& list, const Action& action) {
  return std::count_if(list.begin(), list.end(),
                       [&](const Action& each) { return same(each, action); });
}

/// Work, reduce and step, and where each stood.
struct Work {
  ActionList list;
  std::vector<std::size_t> positions;  // one more than actions: the end

  explicit Work(const ActionList& all) {
    for (std::size_t at = 0; at < all.size(); ++at) {
      if (!expect::is_message(all[at].kind)) {
        list.push_back(all[at]);
        positions.push_back(at);
      }
    }
    positions.push_back(all.size());
  }
};

std::string text_at(const ActionList& list, std::size_t at) {
  return at < list.size() ? expect::action_text(list[at]) : "nothing more";
}

/// Both lists differ at `at`, or one of them ends there.
std::string how_at(const ActionList& due, const ActionList& done, std::size_t at) {
  if (at < done.size()) {
    const std::ptrdiff_t wanted = times_in(due, done[at]);
    if (wanted == 0) {
      return text_at(done, at) + " not due";
    }
    const auto so_far = done.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    if (times_in({done.begin(), so_far}, done[at]) > wanted) {
      return text_at(done, at) + " done twice";
    }
  }
  const bool is_there = times_in(done, due[at]) >= times_in(due, due[at]);
  return text_at(due, at) + (is_there ? " out of order" : " left out");
}

std::optional<ActionFault> work_fault_at(const ActionList& due, const ActionList& done,
                                         std::size_t at) {
  if (at < due.size() && at < done.size() && same(due[at], done[at])) {
    if (due[at].version == done[at].version) {
      return std::nullopt;
    }
    return ActionFault{at, done[at].mb,
                       fmt::format("{} used weights of version {}, {} was due", text_at(done, at),
                                   done[at].version, due[at].version)};
  }
  const int mb = at < due.size() ? due[at].mb : done[at].mb;
  return ActionFault{at, mb,
                     fmt::format("{}: expected {}; did {}", how_at(due, done, at), text_at(due, at),
                                 text_at(done, at))};
}

using Key = std::tuple<expect::ActionKind, int, int>;
Key key_of(const Action& action) {
  return {action.kind, action.chunk, action.mb};
}

}  // namespace

std::optional<ActionFault> first_work_fault(const ActionList& due, const ActionList& done) {
  const Work wanted(due);
  const Work found(done);
  for (std::size_t at = 0; at < std::max(wanted.list.size(), found.list.size()); ++at) {
    if (auto fault = work_fault_at(wanted.list, found.list, at)) {
      fault->position = found.positions[std::min(at, found.list.size())];
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<ActionFault> first_message_fault(const CaseSpec& spec, const ActionList& due,
                                               const ActionList& done) {
  std::set<Key> wanted, seen;
  for (const Action& action : due) {
    wanted.insert(key_of(action));
  }
  for (std::size_t at = 0; at < done.size(); ++at) {
    const Action& action = done[at];
    const auto fault = [&](const std::string& what) {
      return ActionFault{at, action.mb, expect::action_text(action) + what};
    };
    const bool message = expect::is_message(action.kind);
    if (message && !wanted.contains(key_of(action))) {
      return fault(" not due");
    }
    if (message && seen.contains(key_of(action))) {
      return fault(" done twice");
    }
    for (const Action& need : expect::needs_of(spec, action)) {
      if (!seen.contains(key_of(need))) {
        return fault(" done before " + expect::action_text(need));
      }
    }
    seen.insert(key_of(action));
  }
  for (const Action& action : due) {
    if (expect::is_message(action.kind) && !seen.contains(key_of(action))) {
      return ActionFault{done.size(), action.mb, expect::action_text(action) + " left out"};
    }
  }
  return std::nullopt;
}

}  // namespace meshparity
