#include "reference/run_job.hpp"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fixtures/companions.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/inputs_file.hpp"
#include "reference/job_output.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {

void run_job(const Job& job, int threads) {
  const Problem problem = problem_of(job);
  const Lane& lane = lane_of(parse_case(job.case_id).precision);
  Training training(problem, {job.level, threads, job.companions, lane});
  const bool words = job.level == Level::all;
  write_inputs(job.out / "inputs.h5", {problem.model(), problem.spec, problem.inputs}, words);
  write_case_json(job.out / "case.json", problem.model(), problem.spec);
  DumpWriter writer(job.out / rank_file_name(0), header_of(job));
  std::vector<RecordRow> rows;
  std::vector<Companion> companions;
  for (int step = 0; step < problem.spec.steps; ++step) {
    StepOutput output = training.run(step);
    write_step(output.records, step, writer, rows);
    std::move(output.companions.begin(), output.companions.end(), std::back_inserter(companions));
  }
  writer.write_records(rows);
  if (job.companions) {
    const std::string name(lane.name);
    write_companions(job.out / ("companions_" + name + ".h5"), name, companions);
  }
  writer.complete();
}

}  // namespace meshparity::reference
