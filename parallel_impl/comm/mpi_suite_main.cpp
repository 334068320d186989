// For tests: the suite of transports on the processes of an MPI launch. Every process runs the same
// tests and learns what each rank threw, so that all agree on every expectation.
#include <gtest/gtest.h>

#include "parallel_impl/comm/mpi_comm.hpp"
#include "parallel_impl/comm/mpi_session.hpp"
#include "parallel_impl/comm/transport_suite.hpp"

namespace meshparity {
namespace {

std::string run_rank_of(MpiWorld& world, const OnRank& body, Completion when) {
  if (!world.takes_part()) {
    return "";
  }
  std::string error;
  try {
    MpiComm comm(world, when);
    run_expecting(body, comm);
  } catch (const std::exception& thrown) {
    error = thrown.what();
    world.poison(error);
  }
  world.end();
  return error;
}

void tell_outcome(const MpiSession& session, const MpiWorld& world, const std::string& error,
                  RanksOutcome& outcome) {
  for (int rank = 0; rank < world.size(); ++rank) {
    outcome.errors.push_back(session.text_of(rank, rank == session.rank() ? error : ""));
  }
  const RankFailure own = world.state().first_failure().value_or(RankFailure{});
  RankFailure first;
  first.rank = static_cast<int>(session.sum(session.rank() == 0 ? own.rank : 0));
  first.coordinate = session.text_of(0, own.coordinate);
  first.what = session.text_of(0, own.what);
  if (first.rank >= 0) {
    outcome.failure = first;
  }
}

const MpiSession& session_of_this_program() {
  static const MpiSession session;
  return session;
}

RanksOutcome run_on_mpi(int world, const OnRank& body, Completion when,
                        std::chrono::milliseconds limit) {
  const MpiSession& session = session_of_this_program();
  MpiWorld ranks(numbered_coordinates(world), limit);
  const std::string error = run_rank_of(ranks, body, when);
  RanksOutcome outcome;
  tell_outcome(session, ranks, error, outcome);
  return outcome;
}

INSTANTIATE_TEST_SUITE_P(Mpi, Transport,
                         testing::Values(TransportCase{"mpi", run_on_mpi, Completion::lazy},
                                         TransportCase{"mpi", run_on_mpi, Completion::eager}),
                         name_of);

}  // namespace
}  // namespace meshparity

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int rank = meshparity::session_of_this_program().rank();
  if (rank != 0) {  // one process speaks of what went well
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  return RUN_ALL_TESTS();
}
