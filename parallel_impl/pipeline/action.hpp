// A schedule as data: for each stage the list of what it does in a step, or where a pipeline is
// never flushed in the whole run (algorithms.md §3.2-3.7).
#pragma once
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "parallel_impl/pipeline/stages.hpp"

namespace meshparity {

enum class ActionKind {
  forward,
  backward,          // gradient of a chunk's input; of its weights too where these are not apart
  weight,            // gradient of its weights, where schedules split the backward pass
  send_forward,      // a chunk's output leaves its stage
  send_backward,     // the gradient of its input does
  receive_forward,   // a chunk's input arrives
  receive_backward,  // the gradient of its output does
  reduce,            // sums of gradients over ranks
  step               // the update
};
/// As the ledger names it: "F", "B", "W", "send_F", "send_B", "recv_F", "recv_B", "reduce", "step".
std::string_view action_name(ActionKind kind);
/// F, B and W: work of a chunk.
bool is_pass(ActionKind kind);
/// reduce and step: of the whole stage.
bool is_update(ActionKind kind);

struct Action {
  ActionKind kind = ActionKind::forward;
  int chunk = 0;    // of the whole model; of a send the one that made the value
  int mb = 0;       // of the list
  int version = 0;  // updates of the list behind the weights that its micro-batch uses
  bool operator==(const Action&) const = default;
};
using ActionList = std::vector<Action>;

/// Whether the weights' gradients are actions of their own.
bool splits_backward(Schedule schedule);

/// Micro-batches of one list: those of a step, of the asynchronous pipelines those of the run.
int micro_batches_of_list(const CaseSpec& spec);
/// Of an asynchronous pipeline: how many updates made the weights that a stage uses for
/// micro-batch `mb` of the list, forward and backward (algorithms.md §3.5).
int version_used(const CaseSpec& spec, int stage, int mb);

/// F, B, W, reduce and step of one stage in its order, micro-batches 0 to m - 1; without a pipeline
/// F and B of each micro-batch in turn. The update closes the list; the asynchronous pipelines keep
/// the order of 1F1B, with an update behind the last B of each of their steps.
ActionList work_of(const CaseSpec& spec, const Stages& stages, int stage);

}  // namespace meshparity
