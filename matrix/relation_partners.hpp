// The cases that rows of relations.hpp name, where pipelines come in, and when sums have an order.
#pragma once
#include <optional>

#include "matrix/relations.hpp"

namespace meshparity {

using Partner = std::optional<RelatedRun>;

bool runs_on_host(Machine machine);
/// Sums over a group run in canonical order on every host; on a GPU that is a feature.
bool sums_are_ordered(const CaseSpec& spec);

/// What a step sees of asynchronous pipelines depends on the stages: nothing is equal to them but
/// another kind or cut that delays every update alike.
///
/// pp1        none: without stages nothing is late
/// schedule   none: no other order updates in between
/// split      vertical sync and 2BW delay all stages alike; pipedream by how many follow
/// stages     2BW's delay is one batch, whatever the number of stages
/// vsync      pipedream's first step, before any weights are old
Partner without_pipeline(const CaseSpec& spec);
/// 1F1B, and for a case of 1F1B GPipe.
Partner on_another_schedule(const CaseSpec& spec);
Partner split_evenly(const CaseSpec& spec);
Partner on_two_stages(const CaseSpec& spec);
Partner in_vertical_sync(const CaseSpec& spec);

}  // namespace meshparity
