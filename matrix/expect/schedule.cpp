#include "matrix/expect/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "matrix/expect/schedule_orders.hpp"

namespace meshparity::expect {
namespace {

constexpr std::array<std::pair<ActionKind, std::string_view>, 9> kWords = {{
    {ActionKind::forward, "F"},
    {ActionKind::backward, "B"},
    {ActionKind::weights, "W"},
    {ActionKind::send_forward, "send_F"},
    {ActionKind::send_backward, "send_B"},
    {ActionKind::receive_forward, "recv_F"},
    {ActionKind::receive_backward, "recv_B"},
    {ActionKind::reduce, "reduce"},
    {ActionKind::step, "step"},
}};

/// Updates behind the weights that micro-batch `mb` of a stream uses on a stage, forward and
/// backward (algorithms.md §3.5).
int version_at(const CaseSpec& spec, int stage, int mb) {
  const int others = spec.mesh.degree(Axis::pp) - 1;
  switch (spec.schedule) {
    case Schedule::pipedream:
      return std::max(0, mb - (others - stage));
    case Schedule::pipedream_vsync:
      return std::max(0, mb - others);
    default:  // pipedream_2bw, a batch late
      return std::max(0, mb / spec.micro_batches - 1);
  }
}

void add_update(ActionList& list) {
  list.push_back({ActionKind::reduce});
  list.push_back({ActionKind::step});
}

/// A micro-batch is a step, or with pipedream_2bw a batch is.
ActionList stream_with_updates(const CaseSpec& spec, int stage, const ActionList& work) {
  const int period = micro_batches_of_step(spec);
  ActionList list;
  for (Action action : work) {
    action.version = version_at(spec, stage, action.mb);
    list.push_back(action);
    if (action.kind == ActionKind::backward && (action.mb + 1) % period == 0) {
      add_update(list);
    }
  }
  return list;
}

}  // namespace

std::string_view action_word(ActionKind kind) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& row) { return row.first == kind; });
  return found == kWords.end() ? "?" : found->second;
}

std::optional<ActionKind> action_named(std::string_view word) {
  const auto found = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& row) { return row.second == word; });
  return found == kWords.end() ? std::nullopt : std::optional(found->first);
}

bool is_work(ActionKind kind) {
  return kind == ActionKind::forward || kind == ActionKind::backward || kind == ActionKind::weights;
}

bool is_message(ActionKind kind) {
  return !is_work(kind) && kind != ActionKind::reduce && kind != ActionKind::step;
}

std::string action_text(const Action& action) {
  if (!is_work(action.kind) && !is_message(action.kind)) {
    return std::string(action_word(action.kind));
  }
  return fmt::format("{} of chunk {} mb {}", action_word(action.kind), action.chunk, action.mb);
}

bool is_split(Schedule schedule) {
  return schedule == Schedule::zbh1 || schedule == Schedule::zbh2 || schedule == Schedule::zbv;
}

bool is_stream(Schedule schedule) {
  return schedule == Schedule::pipedream || schedule == Schedule::pipedream_vsync ||
         schedule == Schedule::pipedream_2bw;
}

int micro_batches_of_list(const CaseSpec& spec) {
  return is_stream(spec.schedule) ? spec.steps * spec.micro_batches : spec.micro_batches;
}

int micro_batches_of_step(const CaseSpec& spec) {
  const bool one_each =
      spec.schedule == Schedule::pipedream || spec.schedule == Schedule::pipedream_vsync;
  return one_each ? 1 : spec.micro_batches;
}

ActionList work_of_stage(const CaseSpec& spec, int stage) {
  ActionList work = order_of_stage(spec, stage);
  if (is_stream(spec.schedule)) {
    return stream_with_updates(spec, stage, work);
  }
  add_update(work);
  return work;
}

std::vector<ActionList> work_of_stages(const CaseSpec& spec) {
  std::vector<ActionList> lists;
  for (int stage = 0; stage < spec.mesh.degree(Axis::pp); ++stage) {
    lists.push_back(work_of_stage(spec, stage));
  }
  return lists;
}

}  // namespace meshparity::expect
