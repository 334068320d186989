// collectives: every rank entered the collectives that its layout asks for, in their order, groups
// and sizes, and the ranks of each group entered the same ones (contracts.md §4). From ledgers
// alone: values have no part in it, so a wrong value is never its cause.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// A dump without a ledger, a foreign one for instance, is not compared, and a note says so.
void check_collectives(const JudgeContext& context, CheckResult& result);

}  // namespace meshparity
