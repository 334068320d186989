// The checks that look at dumps, once both are known to be comparable.
#pragma once
#include <vector>

#include "matrix/dump_set.hpp"
#include "matrix/judge.hpp"

namespace meshparity {

/// One result for each check after liveness, in their order, with findings that follow from others
/// not yet marked. Throws UsageError when the reference holds less than the evidence's level.
std::vector<CheckResult> judge_records(const Evidence& evidence, const DumpSet& reference,
                                       const DumpSet& candidate);

/// The gravest of a result's findings.
Verdict verdict_of(const CheckResult& result);

}  // namespace meshparity
