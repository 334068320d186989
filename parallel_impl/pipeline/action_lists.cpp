#include "parallel_impl/pipeline/action_lists.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>
#include <tuple>

namespace meshparity {
namespace {

class Play {
 public:
  Play(const CaseSpec& spec, const Stages& stages)
      : stages_(stages), splits_(splits_backward(spec.schedule)) {
    for (int stage = 0; stage < stages.count(); ++stage) {
      ranks_.push_back({work_of(spec, stages, stage), 0, -1, {}});
    }
  }

  std::vector<ActionList> lists() {
    for (std::int64_t now = 0; now != kNever; now = next_end()) {
      for (Rank& rank : ranks_) {
        end(rank, now);
      }
      for (Rank& rank : ranks_) {
        begin(rank, now);
      }
    }
    std::vector<ActionList> lists;
    for (Rank& rank : ranks_) {
      assert(rank.next == rank.work.size());
      lists.push_back(std::move(rank.list));
    }
    return lists;
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Rank {
    ActionList work;
    std::size_t next;   // the first of `work` that has not ended
    std::int64_t ends;  // when it does; -1: it has not begun
    ActionList list;
  };

  static std::tuple<ActionKind, int, int> key(const Action& action) {
    return {action.kind, action.chunk, action.mb};
  }
  bool is_done(const Action& action) const { return done_.contains(key(action)); }

  bool can_begin(const Action& action) const {
    const auto [kind, chunk, mb, version] = action;
    if (is_update(kind)) {
      return true;
    }
    if (kind == ActionKind::forward) {
      return chunk == 0 || is_done({kind, chunk - 1, mb});
    }
    if (kind == ActionKind::weight) {
      return is_done({ActionKind::backward, chunk, mb});
    }
    const bool is_last = chunk + 1 == stages_.chunks();
    return is_done({ActionKind::forward, chunk, mb}) && (is_last || is_done({kind, chunk + 1, mb}));
  }

  void begin(Rank& rank, std::int64_t now) {
    if (rank.next < rank.work.size() && rank.ends < 0 && can_begin(rank.work[rank.next])) {
      const Action& action = rank.work[rank.next];
      rank.list.push_back(action);
      rank.ends = now + duration_of(action.kind, splits_);
    }
  }

  void end(Rank& rank, std::int64_t now) {
    if (rank.ends == now) {
      const Action action = rank.work[rank.next++];
      rank.ends = -1;
      done_.insert(key(action));
      pass_on(action);
    }
  }

  void pass_on(const Action& action) {
    const auto [kind, chunk, mb, version] = action;
    const bool onward = kind == ActionKind::forward;
    const int next = onward ? chunk + 1 : chunk - 1;
    const bool nobody_waits =
        kind == ActionKind::weight || is_update(kind) || next < 0 || next == stages_.chunks();
    if (nobody_waits || stages_.stage_of(next) == stages_.stage_of(chunk)) {
      return;
    }
    list_of(chunk).push_back(
        {onward ? ActionKind::send_forward : ActionKind::send_backward, chunk, mb, version});
    list_of(next).push_back(
        {onward ? ActionKind::receive_forward : ActionKind::receive_backward, next, mb, version});
  }

  ActionList& list_of(int chunk) {
    return ranks_[static_cast<std::size_t>(stages_.stage_of(chunk))].list;
  }

  std::int64_t next_end() const {
    std::int64_t next = kNever;
    for (const Rank& rank : ranks_) {
      next = rank.ends < 0 ? next : std::min(next, rank.ends);
    }
    return next;
  }

  const Stages& stages_;
  bool splits_;
  std::vector<Rank> ranks_;
  std::set<std::tuple<ActionKind, int, int>> done_;
};

}  // namespace

int duration_of(ActionKind kind, bool splits) {
  switch (kind) {
    case ActionKind::forward:
    case ActionKind::weight:
      return 1;
    case ActionKind::backward:
      return splits ? 1 : 2;
    default:
      return 0;
  }
}

std::vector<ActionList> action_lists(const CaseSpec& spec, const Stages& stages) {
  return Play(spec, stages).lists();
}

}  // namespace meshparity
