// meshparity-worker-cuda: runs the cases of a job file with ranks as threads that compute on this
// machine's GPUs, and writes their dumps.
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/cuda/cuda_machine.hpp"
#include "parallel_impl/train_on_cuda.hpp"
#include "parallel_impl/worker/arguments.hpp"
#include "parallel_impl/worker/cuda_jobs.hpp"

namespace {

using meshparity::LaunchEnd;

constexpr int kAllDone = 0;
constexpr int kUsage = 2;
constexpr int kSomeFailed = 3;
constexpr int kLaunchSpent = 4;
constexpr std::string_view kHelp =
    "meshparity-worker-cuda --jobs FILE [--time-limit SECONDS]\n"
    "meshparity-worker-cuda --devices\n"
    "Runs the cases of FILE (one JSON object a line) with ranks as threads, each on a GPU (rank\n"
    "modulo their number), and writes one dump file a rank. A case that fails ends the launch "
    "with\n"
    "code 4; the cases after it want another. --devices says what GPUs there are, and ends with 3\n"
    "where none can be used.\n";

int say_devices() {
  const meshparity::CudaMachine machine = meshparity::cuda_machine();
  fmt::print("{}\n", machine.why_unusable.empty() ? machine.devices : machine.why_unusable);
  return machine.why_unusable.empty() ? kAllDone : kSomeFailed;
}

int run(const meshparity::WorkerArguments& arguments) {
  if (arguments.help) {
    fmt::print("{}", kHelp);
    return kAllDone;
  }
  const LaunchEnd end =
      meshparity::run_cuda_jobs(meshparity::read_jobs(arguments.jobs), meshparity::train_on_cuda,
                                arguments.time_limit, std::cout);
  switch (end) {
    case LaunchEnd::all_done:
      return kAllDone;
    case LaunchEnd::some_refused:
      return kSomeFailed;
    default:
      return kLaunchSpent;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    return words == std::vector<std::string>{"--devices"}
               ? say_devices()
               : run(meshparity::parse_worker_arguments(words));
  } catch (const meshparity::Error& error) {
    fmt::print(stderr, "meshparity-worker-cuda: {}\n", error.what());
    return kUsage;
  }
}
