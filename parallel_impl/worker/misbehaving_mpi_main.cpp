// For tests: a worker of MPI cases whose rank 1 does what the case's seed says: 2 it is killed, 3
// it is stopped, 4 it throws, 5 it sends what nobody takes; else it sums like the others.
#include <signal.h>
#include <sys/prctl.h>

#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

#include "parallel_impl/comm/mpi_session.hpp"
#include "parallel_impl/worker/arguments.hpp"
#include "parallel_impl/worker/mpi_jobs.hpp"

namespace {

using meshparity::Axis;
using meshparity::RankContext;

void send_to_nobody(const RankContext& context) {
  meshparity::Collective send;
  send.kind = meshparity::CollectiveKind::send;
  send.group = context.mesh.group({Axis::dp});
  send.peer = 0;
  context.comm.carry_out(send);
}

void misbehave(const RankContext& context) {
  switch (context.spec.seed) {
    case 2:
      ::raise(SIGKILL);
      break;
    case 3:
      ::raise(SIGSTOP);
      break;
    case 4:
      throw std::runtime_error("out of ideas");
    case 5:
      send_to_nobody(context);
      break;
    default:
      break;
  }
}

void sum_or_misbehave(const RankContext& context) {
  std::vector<double> sum = {1.0};
  const meshparity::CommGroup group = context.mesh.group({Axis::dp});
  context.comm.all_reduce<double>(group, sum, meshparity::ReduceOp::sum,
                                  {0, "attn.out", "forward", 0, 0});
  if (context.mesh.rank() == 1) {
    misbehave(context);
  }
  context.comm.all_reduce<double>(group, sum, meshparity::ReduceOp::sum,
                                  {0, "mlp.down", "forward", 0, 0});
  context.recorder.record(meshparity::Phase::loss, "loss",
                          {0, 0, meshparity::whole(std::vector<std::int64_t>{1}), "dp"},
                          std::span<const double>(sum));
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const meshparity::MpiSession session;
  const auto arguments = meshparity::parse_worker_arguments({argv + 1, argv + argc});
  const bool all_done =
      meshparity::run_mpi_jobs(meshparity::read_jobs(arguments.jobs),
                               {sum_or_misbehave, arguments.time_limit, session, std::cout});
  return all_done ? 0 : 3;
}
