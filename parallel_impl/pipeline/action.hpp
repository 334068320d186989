// A schedule as data: for each stage the list of what it does in a step (algorithms.md §3.2-3.7).
#pragma once
#include <string_view>
#include <vector>

#include "fixtures/case_spec.hpp"
#include "parallel_impl/pipeline/stages.hpp"

namespace meshparity {

enum class ActionKind {
  forward,
  backward,         // gradient of a chunk's input; of its weights too where these are not apart
  weight,           // gradient of its weights, where schedules split the backward pass
  send_forward,     // a chunk's output leaves its stage
  send_backward,    // the gradient of its input does
  receive_forward,  // a chunk's input arrives
  receive_backward  // the gradient of its output does
};
/// As the ledger names it: "F", "B", "W", "send_F", "send_B", "recv_F", "recv_B".
std::string_view action_name(ActionKind kind);

struct Action {
  ActionKind kind = ActionKind::forward;
  int chunk = 0;  // of the whole model; of a send the one that made the value
  int mb = 0;
  bool operator==(const Action&) const = default;
};
using ActionList = std::vector<Action>;

/// Whether the weights' gradients are actions of their own.
bool splits_backward(Schedule schedule);

/// F, B and W of one stage in its order, micro-batches 0 to m - 1; without a pipeline F and B of
/// each micro-batch in turn. The asynchronous pipelines keep the order of 1F1B.
ActionList work_of(const CaseSpec& spec, const Stages& stages, int stage);

}  // namespace meshparity
