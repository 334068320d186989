// meshparity-gpu-times MODELS: what this machine's GPU can do, what the kernels make of it, and how
// long a step takes.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/bench/gpu_steps.hpp"
#include "parallel_impl/bench/gpu_times.hpp"
#include "parallel_impl/cuda/cuda_machine.hpp"

namespace {

using namespace meshparity;

constexpr int kUsage = 2;
constexpr int kSquare = 8192;
constexpr int kSteps = 10;
constexpr std::string_view kHelp =
    "meshparity-gpu-times MODELS\n"
    "Prints how cuBLAS rounds to TF32, how long a step of the model llama-timing of the folder\n"
    "MODELS takes on GPU 0, and of each kernel its time and its share of what memory and products\n"
    "of that GPU can do. Takes 3 GB of its memory and says nothing of right or wrong.\n";

int run(const std::vector<std::string>& words) {
  if (words.size() != 1 || words.front() == "--help") {
    fmt::print("{}", kHelp);
    return words == std::vector<std::string>{"--help"} ? 0 : kUsage;
  }
  choose_device(0);
  fmt::print("{}\n", cuda_machine().devices);
  fmt::print("cuBLAS rounds operands to TF32 {}\n", tf32_rounding());
  for (const char* precision : {"fp64", "fp32", "tf32", "bf16"}) {
    const std::string id = fmt::format("llama-timing.single.plain.{}.cuda-threads", precision);
    fmt::print("a step of {}: {:.2f} ms\n", id, 1e3 * step_seconds(words.front(), id, kSteps));
    std::fflush(stdout);
  }
  fmt::print("{}", format_times(time_kernels({}, kSquare)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "meshparity-gpu-times: {}\n", error.what());
    return kUsage;
  }
}
