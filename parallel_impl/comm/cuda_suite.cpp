// For tests: the suite of transports on ranks whose messages are staged through a GPU that is none.
// Buffers lie in the host's memory here, as some of a rank's always do.
#include "parallel_impl/comm/cuda_staged_comm.hpp"
#include "parallel_impl/comm/transport_suite.hpp"
#include "parallel_impl/cuda/fake_gpu.hpp"

namespace meshparity {
namespace {

RanksOutcome run_staged(int world, const OnRank& body, Completion when,
                        std::chrono::milliseconds limit) {
  FakeGpu::get().reset();
  ThreadWorld threads(numbered_coordinates(world), limit);
  RanksOutcome outcome;
  outcome.errors = run_rank_threads(threads, [&](int rank) {
    ThreadComm inner(threads, rank, when);
    CudaStream stream;
    StagedComm comm(inner, stream);
    body(comm);
  });
  outcome.failure = threads.first_failure();
  return outcome;
}

INSTANTIATE_TEST_SUITE_P(Staged, Transport,
                         testing::Values(TransportCase{"staged", run_staged, Completion::lazy},
                                         TransportCase{"staged", run_staged, Completion::eager}),
                         name_of);

}  // namespace
}  // namespace meshparity
