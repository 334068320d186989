// How much a rank sends through collectives: totals by axis, of a ledger and in closed form
// (algorithms.md §11.1, the variant of calls.hpp). The closed forms know nothing of the list of
// calls, so that one is tested against the other.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "matrix/expect/calls.hpp"
#include "matrix/verdict.hpp"

namespace meshparity::expect {

/// Calls and payload bytes (the whole logical tensor of each call) by axis, axes in the order of
/// their first call.
std::vector<AxisTraffic> traffic_of(std::span<const CollectiveRow> rows);

/// Of one rank in one step that is not skipped, at level standard. With A = tokens * hidden of a
/// micro-batch and T its tokens:
///
///   tp     m (A (2 + 4 L) + T (3 or, with smoothing, 4)), the integers of the norm and the flag of
///          infinities, and what gradients need
///   tp+sp  m (A (5 + 10 L) + T (3 or 4)), the same integers; gradients of all norms and row biases
///   dp     every parameter's part with its padding, the integers of the loss and the tokens
AxisTraffic tp_traffic(const Layout& layout);
AxisTraffic dp_traffic(const Layout& layout);

}  // namespace meshparity::expect
