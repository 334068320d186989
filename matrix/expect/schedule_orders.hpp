// The order of F, B and W on one stage, schedule by schedule, as algorithms.md §3.2-3.7 writes it.
#pragma once
#include "matrix/expect/schedule.hpp"

namespace meshparity::expect {

/// Only F, B and W, versions 0. Of a stream the order of 1F1B over the whole run.
ActionList order_of_stage(const CaseSpec& spec, int stage);

}  // namespace meshparity::expect
