// For benchmarks: a case of one rank, timed.
#pragma once
#include <chrono>
#include <string>

#include "parallel_impl/comm/thread_comm.hpp"
#include "parallel_impl/train.hpp"

namespace meshparity {

/// Seconds that `train` (train, train_on_cuda) takes for so many steps, all set-up of its own
/// included, inputs not.
inline double seconds_of_steps(CaseSpec spec, const ModelSpec& model, int steps,
                               void (*train)(const RankContext&)) {
  using Clock = std::chrono::steady_clock;
  spec.steps = steps;
  const RawInputs inputs(model, spec, nullptr);
  const Mesh mesh(spec, 0);
  ThreadWorld world({"single"}, std::chrono::seconds(60));
  ThreadComm comm(world, 0);
  Recorder recorder(record_table(model, spec), Level::final,
                    std::string(precision_name(spec.precision)));
  FaultPlan faults(spec, 0);
  const Clock::time_point begun = Clock::now();
  train({spec, model, inputs, mesh, comm, recorder, faults});
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

}  // namespace meshparity
