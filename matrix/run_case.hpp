// One case from its evidence to its report; whatever goes wrong on the way is in the report.
#pragma once
#include "fixtures/job.hpp"
#include "matrix/references.hpp"

namespace meshparity {

/// What is known of a case when its launch has let go of it.
struct EndedCase {
  const PlannedCase& planned;
  const Reference& reference;
  LaunchOutcome outcome;
  double seconds = 0;
  LaunchOutcome rebased = {};  // how restarting the reference from its states ended
};

/// A report without evidence: inconclusive, with the reason as its only finding.
CaseReport without_evidence(const std::string& id, const std::string& reason);

inline constexpr const char* kFailedFast = "an earlier case diverged (--fail-fast)";
/// A report of a case that was not run.
CaseReport not_run(const std::string& id, const std::string& reason);

/// A judge that throws makes the case inconclusive.
CaseReport judge_case(const EndedCase& ended, const RunRequest& request, const RunDir& dir,
                      const RunHooks& hooks);

/// Whether dumps that a report rests on stay.
bool is_kept(const CaseReport& report, Keep keep);
/// Deletes the dumps of a case whose report is made, unless `keep` says that they stay.
void let_dumps_go(const CaseReport& report, Keep keep, const RunDir& dir);

/// The board knows ranks only; people want their coordinate.
LaunchOutcome with_coordinate(LaunchOutcome outcome, const CaseSpec& spec);

/// Puts the candidate's states together in the case's folder; the job restarts the reference from
/// them. Throws Error when that cannot be.
Job rebase_job(const EndedCase& ended, const RunRequest& request, const RunDir& dir);

/// The candidate's run of a case; it dumps into `out`, which is made.
Job worker_job(const PlannedCase& planned, const RunRequest& request,
               const std::filesystem::path& out);

/// "meshparity replay ID", with what it needs besides.
std::string replay_command(const std::string& id, const RunRequest& request);

}  // namespace meshparity
