// Messages between the stages of a pipeline, and where they stand in the lists of actions.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "fixtures/error.hpp"
#include "matrix/expect/simulate.hpp"
#include "matrix/expect/stages.hpp"

namespace meshparity::expect {
namespace {

/// The chunk to which a chunk hands its activation (+1) or its gradient (-1); -1: there is none.
int next_chunk(const CaseSpec& spec, int chunk, int direction) {
  const int next = chunk + direction;
  return next < chunk_count(spec) ? next : -1;
}

bool share_a_stage(const CaseSpec& spec, int chunk, int other) {
  return stage_of_chunk(spec, chunk) == stage_of_chunk(spec, other);
}

/// What a chunk's work takes from its neighbour: a message, or work on the same stage.
void add_input(const CaseSpec& spec, const Action& action, std::vector<Action>& needs) {
  const bool forward = action.kind == ActionKind::forward;
  const int from = next_chunk(spec, action.chunk, forward ? -1 : 1);
  if (from < 0) {
    return;
  }
  if (share_a_stage(spec, action.chunk, from)) {
    needs.push_back({action.kind, from, action.mb});
    return;
  }
  const ActionKind receive = forward ? ActionKind::receive_forward : ActionKind::receive_backward;
  needs.push_back({receive, action.chunk, action.mb});
}

/// At one moment messages come before work, by the stage that sends them.
struct Event {
  std::int64_t time = 0;
  bool is_own = false;  // work, reduce, step
  std::size_t sender = 0;
  Action action;

  auto moment() const { return std::tuple(time, is_own, is_own ? 0 : sender); }
};

}  // namespace

Peer peer_of(const CaseSpec& spec, const Action& message) {
  int direction = 1;
  ActionKind kind = ActionKind::receive_forward;
  switch (message.kind) {
    case ActionKind::send_backward:
      direction = -1;
      kind = ActionKind::receive_backward;
      break;
    case ActionKind::receive_forward:
      direction = -1;
      kind = ActionKind::send_forward;
      break;
    case ActionKind::receive_backward:
      kind = ActionKind::send_backward;
      break;
    default:
      break;
  }
  const int chunk = message.chunk + direction;
  return {stage_of_chunk(spec, chunk), {kind, chunk, message.mb}};
}

std::optional<Action> message_of(const CaseSpec& spec, const Action& work) {
  if (work.kind != ActionKind::forward && work.kind != ActionKind::backward) {
    return std::nullopt;
  }
  const bool forward = work.kind == ActionKind::forward;
  const int to = next_chunk(spec, work.chunk, forward ? 1 : -1);
  if (to < 0 || share_a_stage(spec, work.chunk, to)) {
    return std::nullopt;
  }
  return Action{forward ? ActionKind::send_forward : ActionKind::send_backward, work.chunk,
                work.mb};
}

std::vector<Action> needs_of(const CaseSpec& spec, const Action& action) {
  std::vector<Action> needs;
  switch (action.kind) {
    case ActionKind::backward:
      needs.push_back({ActionKind::forward, action.chunk, action.mb});
      [[fallthrough]];
    case ActionKind::forward:
      add_input(spec, action, needs);
      break;
    case ActionKind::send_forward:
      needs.push_back({ActionKind::forward, action.chunk, action.mb});
      break;
    case ActionKind::weights:
    case ActionKind::send_backward:
      needs.push_back({ActionKind::backward, action.chunk, action.mb});
      break;
    default:
      break;
  }
  return needs;
}

std::vector<ActionList> with_messages(const CaseSpec& spec, const std::vector<ActionList>& work) {
  const Played played = play_work(spec, work, logical_durations(spec));
  if (played.stuck) {
    throw Error(
        fmt::format("playing the actions of {}: {}", format_case(spec), stuck_text(*played.stuck)));
  }
  std::vector<std::vector<Event>> events(work.size());
  for (std::size_t stage = 0; stage < work.size(); ++stage) {
    for (const TimedAction& each : played.stages[stage]) {
      events[stage].push_back({each.start, true, 0, each.action});
      if (const auto send = message_of(spec, each.action)) {
        const Peer peer = peer_of(spec, *send);
        events[stage].push_back({each.end, false, stage, *send});
        events[static_cast<std::size_t>(peer.stage)].push_back(
            {each.end, false, stage, peer.action});
      }
    }
  }
  std::vector<ActionList> lists;
  for (std::vector<Event>& of_stage : events) {
    std::stable_sort(of_stage.begin(), of_stage.end(),
                     [](const Event& a, const Event& b) { return a.moment() < b.moment(); });
    ActionList& list = lists.emplace_back();
    for (const Event& event : of_stage) {
      list.push_back(event.action);
    }
  }
  return lists;
}

std::vector<ActionList> actions_due(const CaseSpec& spec) {
  return with_messages(spec, work_of_stages(spec));
}

}  // namespace meshparity::expect
