// All jobs of one MPI launch, one after the other, each with as many ranks as there are processes.
#pragma once
#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "parallel_impl/comm/mpi_comm.hpp"
#include "parallel_impl/comm/mpi_session.hpp"
#include "parallel_impl/worker/run_rank.hpp"

namespace meshparity {

/// What stands over the ranks' messages of one case, where that is not MPI's own comm.
struct OverMpi {
  std::unique_ptr<Comm> comm;  // null: MPI's
  std::string determinism;     // for the dump's header; empty: as on the host
};

struct MpiLaunch {
  RankBody body;
  std::chrono::milliseconds time_limit;
  const MpiSession& session;
  std::ostream& events;                                 // written by process 0
  std::vector<Machine> machines = {Machine::host_mpi};  // what this program runs
  std::function<OverMpi(MpiComm& host, MpiWorld& world, const CaseSpec& spec)> over = {};
};

/// The exit code of a launch that ends after a case that failed, with cases left: messages of the
/// failed case may still be under way, so they want a launch of their own.
inline constexpr int kLaunchSpent = 4;

/// Every process calls this with the same jobs. Prints one line an event (fixtures/job.hpp); "done"
/// only when the files of all ranks are complete. A case in which a rank failed ends the launch
/// with kLaunchSpent once the failure is printed; one that cannot begin does not. True when all are
/// done.
bool run_mpi_jobs(const std::vector<Job>& jobs, const MpiLaunch& launch);

}  // namespace meshparity
