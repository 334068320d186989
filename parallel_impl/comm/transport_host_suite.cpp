// For tests: the suite of transports on the ranks of one machine.
#include "parallel_impl/comm/process_comm.hpp"
#include "parallel_impl/comm/rank_processes.hpp"
#include "parallel_impl/comm/transport_suite.hpp"

namespace meshparity {

RanksOutcome run_on_threads(int world, const OnRank& body, Completion when,
                            std::chrono::milliseconds limit) {
  ThreadWorld threads(numbered_coordinates(world), limit);
  RanksOutcome outcome;
  outcome.errors = run_rank_threads(threads, [&](int rank) {
    ThreadComm comm(threads, rank, when);
    body(comm);
  });
  outcome.failure = threads.first_failure();
  return outcome;
}

RanksOutcome run_on_procs(int world, const OnRank& body, Completion when,
                          std::chrono::milliseconds limit) {
  ProcessWorld processes(numbered_coordinates(world), limit);
  RanksOutcome outcome;
  outcome.errors = run_rank_processes(processes, [&](int rank) {
    ProcessComm comm(processes, rank, when);
    run_expecting(body, comm);
  });
  outcome.failure = processes.first_failure();
  return outcome;
}

INSTANTIATE_TEST_SUITE_P(Host, Transport,
                         testing::Values(TransportCase{"threads", run_on_threads, Completion::lazy},
                                         TransportCase{"threads", run_on_threads,
                                                       Completion::eager},
                                         TransportCase{"procs", run_on_procs, Completion::lazy},
                                         TransportCase{"procs", run_on_procs, Completion::eager}),
                         name_of);

}  // namespace meshparity
