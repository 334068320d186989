// Padding belongs to no record, so no comparison sees it: it must stay zero (algorithms.md §8.2).
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// What ranks show under /local/pad (level all): a finding for the first rank and buffer with an
/// element that is not zero.
void check_padding(const JudgeContext& context, CheckResult& result);

}  // namespace meshparity
