#include "matrix/expect/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/error.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

constexpr std::int64_t kNever = -1;

std::size_t stages_of(const CaseSpec& spec) {
  return static_cast<std::size_t>(spec.mesh.degree(Axis::pp));
}

std::int64_t time_of(const WorkTime& time, ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return time.forward;
    case ActionKind::backward:
      return time.backward;
    case ActionKind::weights:
      return time.weights;
    default:
      return 0;
  }
}

/// A number for each kind of action, chunk and micro-batch.
class Table {
 public:
  explicit Table(const CaseSpec& spec)
      : micro_batches_(static_cast<std::size_t>(micro_batches_of_list(spec))),
        chunks_(static_cast<std::size_t>(chunk_count(spec))),
        values_(kKinds * chunks_ * micro_batches_, kNever) {}

  std::int64_t& at(const Action& action) {
    const std::size_t row =
        static_cast<std::size_t>(action.kind) * chunks_ + static_cast<std::size_t>(action.chunk);
    return values_[row * micro_batches_ + static_cast<std::size_t>(action.mb)];
  }

 private:
  static constexpr std::size_t kKinds = 9;
  std::size_t micro_batches_, chunks_;
  std::vector<std::int64_t> values_;
};

/// What both ways of playing share: a cursor and a clock a stage.
class Play {
 public:
  Play(const CaseSpec& spec, const std::vector<ActionList>& lists, const Durations& durations)
      : spec_(spec), lists_(lists), durations_(durations), clocks_(lists.size(), 0) {
    played_.stages.resize(lists.size());
  }

 protected:
  bool is_at_end(std::size_t stage) const { return position(stage) == lists_[stage].size(); }
  std::size_t position(std::size_t stage) const { return played_.stages[stage].size(); }
  const Action& current(std::size_t stage) const { return lists_[stage][position(stage)]; }

  /// The current action begins at `start` or when the stage is free, whatever is later.
  std::int64_t run(std::size_t stage, std::int64_t start) {
    const Action& action = current(stage);
    const std::int64_t begin = std::max(start, clocks_[stage]);
    const std::int64_t end = begin + time_of(durations_.stages[stage], action.kind);
    played_.stages[stage].push_back({action, begin, end});
    return clocks_[stage] = end;
  }

  /// `advance(stage)` runs its current action if it can; `peer(stage)`: for whom it waits.
  template <class Advance, class PeerOf>
  Played until_nothing_moves(const Advance& advance, const PeerOf& peer) {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t stage = 0; stage < lists_.size(); ++stage) {
        while (!is_at_end(stage) && advance(stage)) {
          moved = true;
        }
      }
    }
    note_stuck(peer);
    return std::move(played_);
  }

  const CaseSpec& spec_;
  const std::vector<ActionList>& lists_;
  const Durations& durations_;
  std::vector<std::int64_t> clocks_;
  Played played_;

 private:
  /// From the first stage that waits on to the one that has ended, or round the cycle.
  template <class PeerOf>
  void note_stuck(const PeerOf& peer) {
    std::size_t stage = 0;
    while (stage < lists_.size() && is_at_end(stage)) {
      ++stage;
    }
    if (stage == lists_.size()) {
      return;
    }
    std::vector<Waiting> chain;
    const auto found = [&] {
      return std::find_if(chain.begin(), chain.end(), [&](const Waiting& each) {
        return each.stage == static_cast<int>(stage);
      });
    };
    while (!is_at_end(stage) && found() == chain.end()) {
      chain.push_back({static_cast<int>(stage), position(stage), current(stage),
                       static_cast<int>(peer(stage))});
      stage = static_cast<std::size_t>(chain.back().peer);
    }
    const bool is_cycle = !is_at_end(stage);
    if (is_cycle) {
      chain.erase(chain.begin(), found());
    }
    played_.stuck = Stuck{std::move(chain), is_cycle};
  }
};

class ListPlay : private Play {
 public:
  ListPlay(const CaseSpec& spec, const std::vector<ActionList>& lists, const Durations& durations,
           Transport transport)
      : Play(spec, lists, durations), transport_(transport), sent_(spec) {}

  Played all() {
    return until_nothing_moves(
        [this](std::size_t stage) { return advance(stage); },
        [this](std::size_t stage) { return static_cast<std::size_t>(peer(current(stage)).stage); });
  }

 private:
  Peer peer(const Action& action) const { return peer_of(spec_, action); }

  bool advance(std::size_t stage) {
    const Action& action = current(stage);
    if (!is_message(action.kind)) {
      run(stage, 0);
      return true;
    }
    const bool sends =
        action.kind == ActionKind::send_forward || action.kind == ActionKind::send_backward;
    if (transport_ == Transport::buffered) {
      return sends ? send(stage) : receive(stage);
    }
    return sends && meet(stage);  // the sender moves both
  }

  bool send(std::size_t stage) {
    sent_.at(current(stage)) = clocks_[stage];
    run(stage, 0);
    return true;
  }

  bool receive(std::size_t stage) {
    const std::int64_t sent = sent_.at(peer(current(stage)).action);
    if (sent == kNever) {
      return false;
    }
    run(stage, sent + durations_.latency);
    return true;
  }

  bool meet(std::size_t stage) {
    const Peer other = peer(current(stage));
    const auto there = static_cast<std::size_t>(other.stage);
    if (is_at_end(there) || current(there).kind != other.action.kind ||
        current(there).chunk != other.action.chunk || current(there).mb != other.action.mb) {
      return false;
    }
    const std::int64_t sent = run(stage, clocks_[there]);
    run(there, sent + durations_.latency);
    return true;
  }

  Transport transport_;
  Table sent_;
};

class WorkPlay : private Play {
 public:
  WorkPlay(const CaseSpec& spec, const std::vector<ActionList>& work, const Durations& durations)
      : Play(spec, work, durations), ended_(spec) {}

  Played all() {
    return until_nothing_moves([this](std::size_t stage) { return advance(stage); },
                               [this](std::size_t stage) { return missing_from(stage); });
  }

 private:
  /// The work whose message a receive would bring.
  Action source(const Action& need) const {
    if (!is_message(need.kind)) {
      return need;
    }
    const Action send = peer_of(spec_, need).action;
    return {send.kind == ActionKind::send_forward ? ActionKind::forward : ActionKind::backward,
            send.chunk, send.mb};
  }

  bool advance(std::size_t stage) {
    const Action& action = current(stage);
    std::int64_t start = 0;
    for (const Action& need : needs_of(spec_, action)) {
      const std::int64_t ended = ended_.at(source(need));
      if (ended == kNever) {
        return false;
      }
      start = std::max(start, ended + (is_message(need.kind) ? durations_.latency : 0));
    }
    const std::int64_t end = run(stage, start);
    if (is_work(action.kind)) {
      ended_.at(action) = end;
    }
    return true;
  }

  std::size_t missing_from(std::size_t stage) {
    for (const Action& need : needs_of(spec_, current(stage))) {
      const Action work = source(need);
      if (ended_.at(work) == kNever) {
        return static_cast<std::size_t>(stage_of_chunk(spec_, work.chunk));
      }
    }
    return stage;
  }

  Table ended_;
};

}  // namespace

std::string stuck_text(const Stuck& stuck) {
  std::string text;
  for (const Waiting& each : stuck.chain) {
    text += fmt::format("{}stage {} waits at {} for stage {}", text.empty() ? "" : ", ", each.stage,
                        action_text(each.at), each.peer);
  }
  return text + (stuck.is_cycle ? "" : ", which has ended");
}

Durations equal_durations(const CaseSpec& spec, const WorkTime& time) {
  return {std::vector<WorkTime>(stages_of(spec), time), 0};
}

Durations logical_durations(const CaseSpec& spec) {
  return equal_durations(spec, {1, is_split(spec.schedule) ? 1 : 2, 1});
}

Played play(const CaseSpec& spec, const std::vector<ActionList>& lists, const Durations& durations,
            Transport transport) {
  return ListPlay(spec, lists, durations, transport).all();
}

Played play_work(const CaseSpec& spec, const std::vector<ActionList>& work,
                 const Durations& durations) {
  return WorkPlay(spec, work, durations).all();
}

}  // namespace meshparity::expect
