// meshparity-step-bench MODELS NAME REPEATS: times one step of the reference on one thread, exact
// and beside its noisy replicas, and prints one JSON object; torch_step.py sets it beside PyTorch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "reference/training.hpp"

namespace {

using namespace meshparity;
using namespace meshparity::reference;

double seconds_of_step(Training& training) {
  const auto begun = std::chrono::steady_clock::now();
  training.run(0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// One step before, so that nothing is measured cold.
double median_seconds(const Problem& problem, const TrainingOptions& options, int repeats) {
  Training training(problem, options);
  seconds_of_step(training);
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    seconds.push_back(seconds_of_step(training));
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<std::size_t>(repeats / 2)];
}

/// Of this program alone: getrusage would count the memory of the one that started it.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) {
      return std::atol(line.c_str() + 6);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    fmt::print(stderr, "meshparity-step-bench MODELS NAME REPEATS: REPEATS is 1 or more\n");
    return 2;
  }
  CaseSpec spec;
  spec.model = argv[2];
  const int repeats = std::atoi(argv[3]);
  const Problem problem(load_named_model(argv[1], spec.model), spec, nullptr);
  const double exact = median_seconds(problem, {Level::final, 1, false, kFp32Lane}, repeats);
  const long peak = peak_kib();
  fmt::print(R"({{"exact_s": {}, "peak_kib": {})", exact, peak);
  if (spec.model != "llama-timing") {  // has no verdicts, hence no companions
    const double recorded =
        median_seconds(problem, {Level::standard, 1, false, kFp32Lane}, repeats);
    for (const Lane& lane : {kFp32Lane, kTf32Lane, kBf16Lane}) {
      const double all = median_seconds(problem, {Level::standard, 1, true, lane}, 1);
      fmt::print(R"(, "noisy_{}": {})", lane.name, (all - recorded) / kReplicas / recorded);
    }
  }
  fmt::print("}}\n");
}
