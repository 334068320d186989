// meshparity-worker-cuda-mpi: runs the cases of a job file with ranks as the processes of an MPI
// launch that compute on GPUs; their messages go through pinned memory and MPI (cuda-mpi) or
// through NCCL (cuda-nccl). Every process writes its own dump file, process 0 prints the events.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/mpi_session.hpp"
#include "parallel_impl/train_on_cuda.hpp"
#include "parallel_impl/worker/arguments.hpp"
#include "parallel_impl/worker/mpi_jobs.hpp"
#include "parallel_impl/worker/nccl_case.hpp"

namespace {

using meshparity::CaseSpec;
using meshparity::Machine;
using meshparity::OverMpi;

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr std::string_view kHelp =
    "mpirun -np N meshparity-worker-cuda-mpi --jobs FILE [--time-limit SECONDS]\n"
    "Runs the cases of FILE (one JSON object a line), each of N ranks, on cuda-mpi or cuda-nccl,\n"
    "and writes one dump file a rank. A case that fails ends the launch with code 4; the cases\n"
    "after it want another.\n";

/// The case under way in this process.
class CudaRank {
 public:
  OverMpi over(meshparity::MpiComm& host, meshparity::MpiWorld& world, const CaseSpec& spec) {
    if (spec.machine != Machine::cuda_nccl) {
      return {nullptr, meshparity::determinism_on_cuda(spec)};
    }
    return {nccl_.begin(spec, {host, world.state()}), meshparity::determinism_on_nccl(spec)};
  }
  void train(const meshparity::RankContext& context) const {
    if (context.spec.machine == Machine::cuda_nccl) {
      meshparity::train_on_nccl(context, nccl_.stream());
    } else {
      meshparity::train_on_cuda(context);
    }
  }

 private:
  meshparity::NcclCase nccl_;
};

int run(const meshparity::WorkerArguments& arguments, const meshparity::MpiSession& session) {
  if (arguments.help) {
    fmt::print("{}", session.rank() == 0 ? kHelp : "");
    return kAllDone;
  }
  meshparity::choose_nccl_order();
  CudaRank rank;
  const meshparity::MpiLaunch launch{
      [&](const meshparity::RankContext& context) { rank.train(context); },
      arguments.time_limit,
      session,
      std::cout,
      {Machine::cuda_mpi, Machine::cuda_nccl},
      [&](auto& host, auto& world, const CaseSpec& spec) { return rank.over(host, world, spec); }};
  return meshparity::run_mpi_jobs(meshparity::read_jobs(arguments.jobs), launch) ? kAllDone
                                                                                 : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  // A launcher that is killed takes its ranks along, stopped ones too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const meshparity::MpiSession session;
  try {
    return run(meshparity::parse_worker_arguments({argv + 1, argv + argc}), session);
  } catch (const meshparity::Error& error) {
    if (session.rank() == 0) {
      fmt::print(stderr, "meshparity-worker-cuda-mpi: {}\n", error.what());
    }
    return kUsage;
  }
}
