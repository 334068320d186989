// One job of the reference program: a case, its dump, its companions.
#pragma once
#include "fixtures/job.hpp"

namespace meshparity::reference {

/// Writes into job.out: rank_0000.h5, inputs.h5 (with the words of dropout at level all),
/// case.json and, if asked, companions_<lane>.h5 of the lane that serves the case's precision (fp64
/// has fp32's); for a case with gradcomm_bf16 also companions_gradcomm_bf16.h5. All else of the
/// case is reduced to its reference key. Throws UsageError for a case that cannot be computed,
/// Error when writing fails.
void run_job(const Job& job, int threads);

}  // namespace meshparity::reference
