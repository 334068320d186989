// One job of the reference program: a case, its dump, its companions.
#pragma once
#include "fixtures/job.hpp"

namespace meshparity::reference {

/// Writes job.out/rank_0000.h5 and, if asked, job.out/companions_fp32.h5, inputs.h5 and case.json
/// beside them. Throws UsageError for a case that cannot be computed, Error when writing fails.
void run_job(const Job& job, int threads);

}  // namespace meshparity::reference
