// Plays lists of actions of all stages of a pipeline against each other: who waits for whom, when
// each action runs, and whether they come to an end at all (algorithms.md §3.1, §3.8).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "matrix/expect/schedule.hpp"

namespace meshparity::expect {

/// How long one action of a chunk takes; everything but work takes no time.
struct WorkTime {
  std::int64_t forward = 1;
  std::int64_t backward = 1;  // unsplit: of both gradients
  std::int64_t weights = 1;
};
struct Durations {
  std::vector<WorkTime> stages;  // one a stage
  std::int64_t latency = 0;      // from the end of a send to the end of its receive
};
/// The ledger's clock: F, B and W take 1, an unsplit B 2. In units of a chunk's forward.
Durations logical_durations(const CaseSpec& spec);
Durations equal_durations(const CaseSpec& spec, const WorkTime& time);

/// `buffered`: a send never waits. `rendezvous`: it waits until its receiver is at the receive.
enum class Transport { buffered, rendezvous };

struct TimedAction {
  Action action;
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool operator==(const TimedAction&) const = default;
};

/// Where a stage stands and cannot go on: it waits for stage `peer`.
struct Waiting {
  int stage = -1;
  std::size_t position = 0;  // in its list
  Action at;
  int peer = -1;
};
/// Each waits for the next one, and the last for the first, or else for one that has ended.
struct Stuck {
  std::vector<Waiting> chain;
  bool is_cycle = false;
};
/// "stage 0 waits at send_F of chunk 0 mb 1 for stage 1, stage 1 waits at ... for stage 0".
std::string stuck_text(const Stuck& stuck);

struct Played {
  std::vector<std::vector<TimedAction>> stages;  // as far as they came
  std::optional<Stuck> stuck;                    // none: every list was played to its end
};

/// Lists with their messages; every action's chunk and micro-batch exist. Work runs where its list
/// puts it: whether what it needs came before is asked of `needs_of`.
Played play(const CaseSpec& spec, const std::vector<ActionList>& lists, const Durations& durations,
            Transport transport);

/// Lists without messages: work waits for the work that it needs, wherever that is.
Played play_work(const CaseSpec& spec, const std::vector<ActionList>& work,
                 const Durations& durations);

/// What a rank must list: work played by the logical clock, and every message put into both lists
/// at the moment when the work ends that makes it. What happens at one moment: first messages, by
/// the sender's stage, then work begins. Such lists never deadlock under blocking rendezvous: all
/// follow one order of everything, in which a send stands beside its receive.
std::vector<ActionList> with_messages(const CaseSpec& spec, const std::vector<ActionList>& work);
/// with_messages of work_of_stages.
std::vector<ActionList> actions_due(const CaseSpec& spec);

/// The other end of a message: its stage, and the action there.
struct Peer {
  int stage = -1;
  Action action;
};
Peer peer_of(const CaseSpec& spec, const Action& message);
/// The message, as its sender lists it, by which work reaches another stage; nothing where the next
/// chunk lies on the same stage or there is none.
std::optional<Action> message_of(const CaseSpec& spec, const Action& work);
/// What the same list must hold before this action: work on this stage, and receives.
std::vector<Action> needs_of(const CaseSpec& spec, const Action& action);

}  // namespace meshparity::expect
