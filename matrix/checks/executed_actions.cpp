#include "matrix/checks/executed_actions.hpp"

#include <fmt/format.h>

#include "matrix/expect/stages.hpp"

namespace meshparity {
namespace {

using expect::Action;
using expect::ActionKind;

bool is_update(ActionKind kind) {
  return kind == ActionKind::reduce || kind == ActionKind::step;
}

/// Chunk and micro-batch are of this case, and a message goes to or comes from another stage.
bool exists(const CaseSpec& spec, const Action& action) {
  if (is_update(action.kind)) {
    return true;
  }
  if (action.chunk < 0 || action.chunk >= expect::chunk_count(spec) || action.mb < 0 ||
      action.mb >= expect::micro_batches_of_list(spec)) {
    return false;
  }
  if (!expect::is_message(action.kind)) {
    return true;
  }
  const bool onward =
      action.kind == ActionKind::send_forward || action.kind == ActionKind::receive_backward;
  const int other = action.chunk + (onward ? 1 : -1);
  return other >= 0 && other < expect::chunk_count(spec) &&
         expect::stage_of_chunk(spec, other) != expect::stage_of_chunk(spec, action.chunk);
}

void add_row(const CaseSpec& spec, const ActionRow& row, ExecutedActions& to) {
  const auto kind = expect::action_named(row.kind);
  Action action{kind.value_or(ActionKind::step), row.chunk, row.mb, row.version};
  const bool known = kind && exists(spec, action);
  if (!known && !to.fault) {
    to.fault = ActionFault{
        to.list.size(), row.mb,
        fmt::format("{} of chunk {} mb {} is no action of this case", row.kind, row.chunk, row.mb)};
  }
  to.is_playable = to.is_playable && known;
  if (kind && is_update(*kind)) {
    action.chunk = action.mb = -1;
  }
  if (kind && !expect::is_work(*kind)) {
    action.version = 0;
  }
  to.list.push_back(action);
  to.timed.push_back({action, row.logical_start, row.logical_end});
}

}  // namespace

std::vector<ExecutedActions> executed_lists(const CaseSpec& spec, std::span<const ActionRow> rows) {
  std::vector<ExecutedActions> lists;
  bool open = false;
  for (const ActionRow& row : rows) {
    if (!open) {
      lists.emplace_back();
    }
    add_row(spec, row, lists.back());
    open = expect::is_stream(spec.schedule) || row.kind != "step";
  }
  return lists;
}

}  // namespace meshparity
