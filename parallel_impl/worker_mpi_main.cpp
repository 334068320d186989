// meshparity-worker-mpi: runs the cases of a job file with ranks as the processes of an MPI launch;
// every process writes its own dump file, process 0 prints the events.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/comm/mpi_session.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/arguments.hpp"
#include "parallel_impl/worker/mpi_jobs.hpp"

namespace {

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr std::string_view kHelp =
    "mpirun -np N meshparity-worker-mpi --jobs FILE [--time-limit SECONDS]\n"
    "Runs the cases of FILE (one JSON object a line), each of N ranks, and writes one dump file a\n"
    "rank. A rank waits for its peers for at most SECONDS (5) in which nothing moves. A case that\n"
    "fails ends the launch with code 4; the cases after it want another.\n";

int run(const meshparity::WorkerArguments& arguments, const meshparity::MpiSession& session) {
  if (arguments.help) {
    fmt::print("{}", session.rank() == 0 ? kHelp : "");
    return kAllDone;
  }
  const bool all_done =
      meshparity::run_mpi_jobs(meshparity::read_jobs(arguments.jobs),
                               {meshparity::train, arguments.time_limit, session, std::cout});
  return all_done ? kAllDone : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  // A launcher that is killed takes its ranks along, stopped ones too.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const meshparity::MpiSession session;
  try {
    return run(meshparity::parse_worker_arguments({argv + 1, argv + argc}), session);
  } catch (const meshparity::UsageError& error) {
    if (session.rank() == 0) {
      fmt::print(stderr, "meshparity-worker-mpi: {}\n", error.what());
    }
    return kUsage;
  }
}
