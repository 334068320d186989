// The checks of a probe: coverage and collectives. It has no values to compare with a reference.
#pragma once
#include <vector>

#include "matrix/dump_set.hpp"
#include "matrix/judge.hpp"

namespace meshparity {

/// One result for each check after liveness, in their order.
std::vector<CheckResult> judge_probe(const Evidence& evidence, const DumpSet& candidate);

}  // namespace meshparity
