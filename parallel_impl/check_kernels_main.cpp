// meshparity-check-kernels: compares every kernel on this machine's GPU with its body on the host.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/error.hpp"
#include "parallel_impl/check_kernels.hpp"

namespace {

constexpr int kAllGood = 0;
constexpr int kSomethingDiffers = 1;
constexpr int kUsage = 2;
constexpr std::string_view kHelp =
    "meshparity-check-kernels MODELS [CASE...]\n"
    "Runs small cases (or those given) with model specs of the folder MODELS; every launch runs "
    "on\n"
    "warps, on blocks and on the host, and results and guard values around buffers are compared.\n"
    "Prints a line a kernel; ends with 1 when something differs.\n";

int run(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "--help") {
    fmt::print("{}", kHelp);
    return words.empty() ? kUsage : kAllGood;
  }
  const std::vector<std::string> given(words.begin() + 1, words.end());
  meshparity::KernelChecks checks;
  meshparity::check_kernels(words.front(),
                            given.empty() ? meshparity::cases_of_kernel_check() : given, checks);
  fmt::print("{}", meshparity::format_checks(checks.rows()));
  return checks.all_good() ? kAllGood : kSomethingDiffers;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const meshparity::Error& error) {
    fmt::print(stderr, "meshparity-check-kernels: {}\n", error.what());
    return kUsage;
  }
}
