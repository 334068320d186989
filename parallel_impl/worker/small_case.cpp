#include "parallel_impl/worker/small_case.hpp"

#include <vector>

namespace meshparity {

Job small_job(const ScratchFolder& folder, const std::string& case_id, const std::string& out) {
  Job job;
  job.case_id = case_id;
  job.out = folder / out;
  job.models = MESHPARITY_MODELS;
  job.commit = "0123abc clean";
  std::filesystem::create_directories(job.out);
  return job;
}

void sum_of_ranks(const RankContext& context) {
  for (int step = 0; step < context.spec.steps; ++step) {
    std::vector<double> sum = {context.mesh.rank() + 0.5 * step};
    context.comm.all_reduce<double>(context.mesh.group({Axis::dp, Axis::tp}), sum, ReduceOp::sum,
                                    {0, "mlp.down", "forward", step, 0});
    context.recorder.record(Phase::loss, "loss",
                            {step, 0, whole(std::vector<std::int64_t>{1}), "dp,tp"},
                            std::span<const double>(sum));
  }
}

}  // namespace meshparity
