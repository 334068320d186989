// A case that does not conform runs a second time, alone, before it is reported: where its two runs
// differ, that is a finding of its own (contracts.md §4).
#pragma once
#include "matrix/run_case.hpp"
#include "matrix/run_jobs.hpp"

namespace meshparity {

/// Whether a second run would tell anything: the case does not conform, and it did run.
bool needs_second_run(const EndedCase& ended, const CaseReport& report);

/// One run of a case and where it dumped.
struct CandidateRun {
  std::filesystem::path dump;
  LaunchOutcome outcome;
};

/// The check "repeatable": both runs died, or both ended and are equal in every record that both
/// hold. Not judged (inconclusive) where the second never began or a dump cannot be read.
CheckResult check_repeatable(const CandidateRun& first, const CandidateRun& second);

/// Runs the case in a launch of its own at level all and adds the check to its report, whose
/// verdict becomes the gravest. `settings` for that launch.
void add_second_run(const EndedCase& ended, const RunRequest& request, const RunDir& dir,
                    LaunchSettings settings, CaseReport& report);

}  // namespace meshparity
