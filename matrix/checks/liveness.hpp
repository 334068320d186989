// liveness: did the launch end as it should, and if not, which rank stopped it and who waits where
// for whom (contracts.md §4).
#pragma once
#include "matrix/judge.hpp"

namespace meshparity {

/// Reads the outcome and, when there is one, the progress board.
CheckResult check_liveness(const Evidence& evidence);

}  // namespace meshparity
