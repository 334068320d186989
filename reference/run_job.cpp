#include "reference/run_job.hpp"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/inputs_file.hpp"
#include "fixtures/step_place.hpp"
#include "reference/job_output.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

void take_companions(StepOutput& output, std::vector<Companion>& all) {
  std::move(output.companions.begin(), output.companions.end(), std::back_inserter(all));
}

void write_lane(const Job& job, const Lane& lane, const std::vector<Companion>& companions) {
  const std::string name(lane.name);
  write_companions(job.out / ("companions_" + name + ".h5"), name, companions);
}

/// Those of one more lane; the exact run beside them is the same again.
void write_further_companions(const Job& job, const Problem& problem, const Lane& lane,
                              int threads) {
  Training training(problem, {job.level, threads, true, lane});
  std::vector<Companion> companions;
  for (int step = 0; step < step_count(problem.spec); ++step) {
    StepOutput output = training.run(step);
    take_companions(output, companions);
  }
  write_lane(job, lane, companions);
}

}  // namespace

void run_job(const Job& job, int threads) {
  const Problem problem = problem_of(job);
  const CaseSpec asked = parse_case(job.case_id);
  const Lane& lane = lane_of(asked.precision);
  Training training(problem, {job.level, threads, job.companions, lane});
  const bool words = job.level == Level::all;
  write_inputs(job.out / "inputs.h5", {problem.model(), problem.spec, problem.inputs}, words);
  write_case_json(job.out / "case.json", problem.model(), problem.spec);
  DumpWriter writer(job.out / rank_file_name(0), header_of(job));
  std::vector<RecordRow> rows;
  std::vector<Companion> companions;
  for (int step = 0; step < step_count(problem.spec); ++step) {
    StepOutput output = training.run(step);
    write_step(output.records, step, writer, rows);
    take_companions(output, companions);
  }
  writer.write_records(rows);
  if (job.companions) {
    write_lane(job, lane, companions);
  }
  if (job.companions && asked.gradcomm_bf16) {
    write_further_companions(job, problem, kGradcommLane, threads);
  }
  writer.complete();
}

}  // namespace meshparity::reference
