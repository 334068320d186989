// memory: every rank's allocator counted the bytes that its layout needs (contracts.md §4,
// algorithms.md §11.2): parameters, gradients, moments and activations, now and at their peak.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// Exactly: a buffer twice as large as due diverges, one that is missing too. A foreign dump
/// without a ledger is not compared, and a note says so.
void check_memory(const JudgeContext& context, CheckResult& result);

}  // namespace meshparity
