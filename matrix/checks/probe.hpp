// coverage by probe (contracts.md §4): every element of every rank's gradients, parameters and
// moments shows its own global index, and a gradient as often as ranks contribute to it; and every
// rank holds what matrix's own formula gives it.
#pragma once
#include "matrix/checks/record_evidence.hpp"

namespace meshparity {

/// What element `index` of a tensor shows in a step: digit `step` of the index in base 65,536.
double shown_index(std::int64_t index, int step);

/// `context.reference` is not read: nothing but the layout decides what is due.
void check_probe(const JudgeContext& context, CheckResult& result);

}  // namespace meshparity
