// How much a rank sends through collectives: totals by axis, of a ledger and in closed form
// (algorithms.md §11.1, the variant of calls.hpp). The closed forms know nothing of the list of
// calls, so that one is tested against the other.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/expect/calls.hpp"
#include "matrix/verdict.hpp"

namespace meshparity::expect {

/// Calls and payload bytes (the whole logical tensor of each call) by axis, axes in the order of
/// their first call.
std::vector<AxisTraffic> traffic_of(std::span<const CollectiveRow> rows);

/// Of one rank in one step that is not skipped, at level standard, in groups along just these axes
/// ("tp", "dp", "pp", "tp,pp", ...). With A = tokens * hidden of a micro-batch, T its tokens, m
/// micro-batches and, of what the rank's stage has, L blocks and N parameters' elements:
///
///   tp     m A (1 of the embedding, 1 of the head, 4 L, with full recomputation 6 L), m T (3 or,
///          with smoothing, 4) of the head, and what gradients need
///   tp+sp  m A (2 of the embedding, 3 of the head, 10 L, with full recomputation 14 L), as above;
///          gradients of all norms and row biases
///   dp     N; zero1 N gradients and N values, zero2 m N and N, zero3 m N and 2 m N; values that
///          two pieces of a stage read are counted once with zero1 and zero2
///   pp     m A both ways for each border of a chunk with another stage (sp: the rank's own rows),
///          and the tied weight's gradient at both ends
///
/// and in the group that holds all who know something of them the integers of tokens and loss, of
/// the norm, and the flag of infinities. Of a pipeline that is never flushed m is what a step has
/// of micro-batches (1; pipedream_2bw all of a batch), tokens go along dp, the rest is not there,
/// and the losses that are summed after the last step are left out. With `_param`, and without ZeRO
/// or buckets; flat buckets move their padding besides and have other numbers of calls. What tensor
/// ranks add of gradients is told without ZeRO: replicas then add a share of it each.
AxisTraffic traffic_along(const Layout& layout, int rank, std::string_view axes);

}  // namespace meshparity::expect
