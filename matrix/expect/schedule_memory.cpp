#include "matrix/expect/schedule_memory.hpp"

#include <algorithm>
#include <map>

namespace meshparity::expect {
namespace {

/// Of the holdings that this kind of action begins or ends, the bytes of its chunk.
std::int64_t bytes_at(const Action& action, const std::vector<Holding>& holdings,
                      ActionKind Holding::*border) {
  std::int64_t bytes = 0;
  for (const Holding& holding : holdings) {
    if (holding.*border == action.kind) {
      bytes += holding.bytes.at(static_cast<std::size_t>(action.chunk));
    }
  }
  return bytes;
}

struct Held {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};

Held held_over(const ActionList& list, const std::vector<Holding>& holdings) {
  Held held;
  for (const Action& action : list) {
    if (action.chunk >= 0) {
      held.now += bytes_at(action, holdings, &Holding::from);
      held.peak = std::max(held.peak, held.now);
      held.now -= bytes_at(action, holdings, &Holding::until);
    }
  }
  return held;
}

}  // namespace

std::int64_t peak_held(const ActionList& list, const std::vector<Holding>& holdings) {
  return held_over(list, holdings).peak;
}

int peak_versions(const ActionList& list) {
  std::map<int, int> readers;  // still to come, by version
  for (const Action& action : list) {
    readers[action.version] += is_work(action.kind) ? 1 : 0;
  }
  int newest = 0;
  std::size_t most = 1;
  for (const Action& action : list) {
    if (is_work(action.kind)) {
      --readers[action.version];
    } else if (action.kind == ActionKind::step) {
      ++newest;
    }
    std::erase_if(readers, [&](const auto& each) { return each.second == 0; });
    const auto older = readers.lower_bound(newest);
    most = std::max(most, 1 + static_cast<std::size_t>(std::distance(readers.begin(), older)));
  }
  return static_cast<int>(most);
}

std::int64_t left_held(const ActionList& list, const std::vector<Holding>& holdings) {
  return held_over(list, holdings).now;
}

}  // namespace meshparity::expect
