#include "matrix/run_case.hpp"

#include <fmt/format.h>

#include "fixtures/dump.hpp"
#include "fixtures/rank_grid.hpp"
#include "matrix/rebase_state.hpp"

namespace meshparity {
namespace {

Evidence evidence_of(const EndedCase& ended, const RunRequest& request, const RunDir& dir) {
  Evidence evidence;
  evidence.spec = ended.planned.spec;
  evidence.model = ended.planned.model;
  evidence.level = request.level;
  evidence.candidate = dir.dump(ended.planned.id);
  evidence.reference = ended.reference.folder;
  evidence.companions =
      ReferenceCache::companions_file(ended.reference.folder, ended.planned.spec.precision);
  evidence.board = evidence.candidate / "board.bin";
  evidence.outcome = with_coordinate(ended.outcome, ended.planned.spec);
  evidence.replay = replay_command(ended.planned.id, request);
  if (!ended.outcome.finished) {
    return evidence;  // a dead case has no states to go on from
  }
  if (ended.rebased.finished) {
    evidence.rebased = dir.rebased(ended.planned.id) / rank_file_name(0);
  } else {
    evidence.not_rebased = fmt::format(
        "restarting the reference from the candidate's states failed: {}", ended.rebased.what);
    evidence.not_rebased_gravity = Verdict::inconclusive;
  }
  return evidence;
}

CaseReport judged(const EndedCase& ended, const RunRequest& request, const RunDir& dir,
                  const RunHooks& hooks) {
  if (!ended.reference.failure.empty()) {
    return without_evidence(
        ended.planned.id,
        fmt::format("the reference of this case could not be made: {}", ended.reference.failure));
  }
  try {
    return hooks.judge(evidence_of(ended, request, dir));
  } catch (const std::exception& error) {
    return without_evidence(ended.planned.id,
                            fmt::format("the evidence could not be judged: {}", error.what()));
  }
}

}  // namespace

LaunchOutcome with_coordinate(LaunchOutcome outcome, const CaseSpec& spec) {
  const RankGrid grid = RankGrid::dense(spec.mesh, spec.order);
  const bool known = outcome.rank >= 0 && outcome.rank < grid.world_size();
  if (outcome.coordinate.empty() && known) {
    outcome.coordinate = format_coordinate(grid, grid.coordinate(outcome.rank));
  }
  return outcome;
}

std::string replay_command(const std::string& id, const RunRequest& request) {
  return fmt::format("meshparity replay {}{}", id, request.replay_options);
}

CaseReport without_evidence(const std::string& id, const std::string& reason) {
  Finding finding;
  finding.gravity = Verdict::inconclusive;
  finding.check = "liveness";
  finding.text = reason;
  CheckResult check;
  check.check = "liveness";
  check.verdict = Verdict::inconclusive;
  check.findings.push_back(std::move(finding));
  CaseReport report;
  report.case_id = id;
  report.checks.push_back(std::move(check));
  return report;
}

CaseReport not_run(const std::string& id, const std::string& reason) {
  CaseReport report;
  report.case_id = id;
  report.not_run = reason;
  return report;
}

Job worker_job(const PlannedCase& planned, const RunRequest& request,
               const std::filesystem::path& out) {
  Job job;
  job.case_id = planned.id;
  job.out = out;
  job.level = request.level;
  job.text = planned.spec.text_hash.empty() ? std::filesystem::path() : request.text;
  job.models = request.models;
  job.commit = request.commit;
  std::filesystem::create_directories(job.out);
  return job;
}

Job rebase_job(const EndedCase& ended, const RunRequest& request, const RunDir& dir) {
  const std::string& id = ended.planned.id;
  Job job = worker_job(ended.planned, request, dir.rebased(id));
  job.state = job.out / "state.h5";
  write_state(ended.planned.spec, DumpSet(ended.reference.folder), DumpSet(dir.dump(id)),
              job.state);
  return job;
}

CaseReport judge_case(const EndedCase& ended, const RunRequest& request, const RunDir& dir,
                      const RunHooks& hooks) {
  CaseReport report = judged(ended, request, dir, hooks);
  report.case_id = ended.planned.id;
  report.seconds = ended.seconds;
  report.replay = replay_command(ended.planned.id, request);
  return report;
}

bool is_kept(const CaseReport& report, Keep keep) {
  const bool failed = report.not_run.empty() && report.verdict != Verdict::conforms;
  return keep == Keep::all || (keep == Keep::failed && failed);
}

void let_dumps_go(const CaseReport& report, Keep keep, const RunDir& dir) {
  if (is_kept(report, keep)) {
    return;
  }
  const std::string& id = report.case_id;
  for (const std::filesystem::path& dump : {dir.dump(id), dir.rebased(id), dir.again(id)}) {
    std::error_code none;  // a dump that stays costs room, no truth
    std::filesystem::remove_all(dump, none);
  }
}

}  // namespace meshparity
