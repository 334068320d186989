// What every job of the reference program needs: its problem, and its dump's header and records.
#pragma once
#include "fixtures/dump.hpp"
#include "fixtures/job.hpp"
#include "reference/problem.hpp"
#include "reference/step_records.hpp"

namespace meshparity::reference {

/// Reduced to the case's reference key; but a precision or feature that keeps masters stays, for
/// they are records. Throws UsageError for a case that cannot be computed.
Problem problem_of(const Job& job);
DumpHeader header_of(const Job& job);
/// Writes every record of a step, whole, and appends its rows of /records.
void write_step(const StepRecords& records, int step, DumpWriter& writer,
                std::vector<RecordRow>& rows, Precision computed_in = Precision::fp64);

}  // namespace meshparity::reference
