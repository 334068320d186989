// What each stage of a pipeline does and in which order, by matrix's own formulas
// (algorithms.md §3.2-3.7). Without messages; simulate.hpp adds them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"

namespace meshparity::expect {

/// As `/ledger/actions` knows them. An unsplit backward is the gradient of the input and of the
/// weights in one; split schedules (the zb ones) have an action of its own for the weights.
enum class ActionKind {
  forward,
  backward,
  weights,
  send_forward,  // of an activation, by the chunk that made it
  send_backward,
  receive_forward,  // by the chunk that needs it
  receive_backward,
  reduce,  // sums of gradients
  step     // the update; closes a list
};
/// "F" "B" "W" "send_F" "send_B" "recv_F" "recv_B" "reduce" "step".
std::string_view action_word(ActionKind kind);
std::optional<ActionKind> action_named(std::string_view word);

struct Action {
  ActionKind kind = ActionKind::forward;
  int chunk = -1;  // of the whole pipeline; -1 of reduce and step
  int mb = -1;
  int version = 0;  // updates behind the weights that work used, from the list's first on
  bool operator==(const Action&) const = default;
};
using ActionList = std::vector<Action>;

bool is_work(ActionKind kind);     // F, B, W
bool is_message(ActionKind kind);  // sends and receives
/// "F of chunk 1 mb 3", "step".
std::string action_text(const Action& action);

/// Backward in two actions.
bool is_split(Schedule schedule);
/// Never flushed: a list covers the whole run, and `mb` counts through all its batches.
bool is_stream(Schedule schedule);
/// Micro-batches of one list: those of a step, or of the run.
int micro_batches_of_list(const CaseSpec& spec);
/// Micro-batches of one step of the records: with pipedream and pipedream_vsync each is a step.
int micro_batches_of_step(const CaseSpec& spec);

/// F, B, W, reduce and step in the stage's order. A stream updates after every micro-batch
/// (pipedream_2bw after every batch), other schedules once, at the end: all their work uses the
/// weights with which the list begins.
ActionList work_of_stage(const CaseSpec& spec, int stage);
std::vector<ActionList> work_of_stages(const CaseSpec& spec);

}  // namespace meshparity::expect
