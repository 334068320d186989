// schedule: every rank did what its schedule asks for, in its order (contracts.md §4): work as by
// the formulas, messages in pairs and without deadlock even if sends were blocking, the logical
// clock, bubble and activations in flight. From the ledgers alone.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// The executed lists of all ranks and steps. A dump without such a ledger, a foreign one for
/// instance, is not compared, and a note says so; our own has one wherever there is a pipeline.
void check_schedule(const JudgeContext& context, CheckResult& result);

}  // namespace meshparity
