// meshparity-worker: runs the cases of a job file, ranks as threads or as processes of this
// machine, and writes their dumps.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/train.hpp"
#include "parallel_impl/worker/arguments.hpp"
#include "parallel_impl/worker/run_jobs.hpp"

namespace {

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr std::string_view kHelp =
    "meshparity-worker --jobs FILE [--time-limit SECONDS]\n"
    "Runs the cases of FILE (one JSON object a line) with ranks as threads or processes and "
    "writes\n"
    "one dump file a rank. A rank waits for its peers for at most SECONDS (5) in which nothing "
    "moves.\n";

int run(const meshparity::WorkerArguments& arguments) {
  if (arguments.help) {
    fmt::print("{}", kHelp);
    return kAllDone;
  }
  const bool all_done = meshparity::run_jobs(meshparity::read_jobs(arguments.jobs),
                                             meshparity::train, arguments.time_limit, std::cout);
  return all_done ? kAllDone : kSomeFailed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(meshparity::parse_worker_arguments({argv + 1, argv + argc}));
  } catch (const meshparity::UsageError& error) {
    fmt::print(stderr, "meshparity-worker: {}\n", error.what());
    return kUsage;
  }
}
