// For tests of the check schedule: dumps whose ledgers of actions are as due, but for one edit.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "fixtures/loss_scaling.hpp"
#include "matrix/expect/grid.hpp"
#include "matrix/expect/simulate.hpp"
#include "matrix/expect/stages.hpp"
#include "matrix/made_case.hpp"

namespace meshparity {

using ActionRows = std::vector<ActionRow>;

/// All steps of a stage, played by the simulator.
inline ActionRows due_rows(const CaseSpec& spec, int stage) {
  const expect::Played played =
      expect::play(spec, expect::actions_due(spec), expect::logical_durations(spec),
                   expect::Transport::buffered);
  ActionRows rows;
  const int lists = expect::is_stream(spec.schedule) ? 1 : spec.steps;
  int updates = 0;
  for (int list = 0; list < lists; ++list) {
    for (const expect::TimedAction& each : played.stages.at(static_cast<std::size_t>(stage))) {
      rows.push_back({std::string(expect::action_word(each.action.kind)), each.action.chunk,
                      each.action.mb, each.action.version + updates, each.start, each.end, 0, 0});
    }
    updates += is_skipped(spec, list) ? 0 : 1;
  }
  return rows;
}

/// The messages of a rank as its transport saw them.
inline std::vector<CollectiveRow> due_calls(const CaseSpec& spec, int rank,
                                            const ActionRows& actions) {
  std::vector<CollectiveRow> calls;
  int step = 0;
  for (const ActionRow& row : actions) {
    step += row.kind == "step" ? 1 : 0;
    if (row.kind.size() < 6 || row.kind == "reduce") {
      continue;
    }
    CollectiveRow& call = calls.emplace_back();
    call.kind = row.kind.starts_with("send") ? "send" : "receive";
    call.site = row.kind.ends_with("F") ? "pp.activation/forward" : "pp.gradient/backward";
    call.axis = "pp";
    call.group = fmt::format("{}", fmt::join(expect::peers(spec, rank, std::array{Axis::pp}), " "));
    const bool stream = expect::is_stream(spec.schedule);
    const int of_step = expect::micro_batches_of_step(spec);
    call.mb = stream ? row.mb % of_step : row.mb;
    call.step = stream ? row.mb / of_step : step;
  }
  return calls;
}

struct Otherwise {
  bool foreign = false;
  int last_call_missing_of = -1;  // a rank
};

/// `edit` changes the ledger of every rank.
inline CheckResult schedule_of(const std::string& id,
                               const std::function<void(int, ActionRows&)>& edit,
                               const Otherwise& otherwise = {}) {
  MadeCase made("gpt-micro." + id + ".fp64.host-threads");
  made.add("loss", {1}, {1}).spec.phase = Phase::loss;
  for (int rank = 0; rank < made.spec.mesh.world_size(); ++rank) {
    made.give(rank, "loss", whole(std::vector<std::int64_t>{1}), "dp,tp,pp");
  }
  made.edit_header = [&](int, DumpHeader& header) { header.foreign = otherwise.foreign; };
  made.edit_ledgers = [&](int rank, Ledgers& ledgers) {
    ledgers.actions = due_rows(made.spec, expect::stage_of(made.spec, rank));
    const std::vector<CollectiveRow> calls = due_calls(made.spec, rank, ledgers.actions);
    ledgers.collectives.insert(ledgers.collectives.end(), calls.begin(), calls.end());
    if (rank == otherwise.last_call_missing_of) {
      ledgers.collectives.pop_back();
    }
    edit(rank, ledgers.actions);
  };
  return result_of(meshparity::judge(made.write()), "schedule");
}

/// The ledger of one rank.
inline std::function<void(int, ActionRows&)> of_rank(int rank,
                                                     const std::function<void(ActionRows&)>& edit) {
  return [=](int each, ActionRows& rows) {
    if (each == rank) {
      edit(rows);
    }
  };
}

}  // namespace meshparity
