// meshparity-candidate-step-bench MODELS NAME PRECISION STEPS: times a step of the candidate on one
// rank and what of it goes into products, and prints one JSON object; torch_step32.py sets it
// beside PyTorch's.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "fixtures/error.hpp"
#include "parallel_impl/backend/host_matmul.hpp"
#include "parallel_impl/bench/lone_rank.hpp"

namespace {

using namespace meshparity;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

// The linker puts these in the place of the products (--wrap): the library's own code is unchanged.
double& product_seconds() {
  static thread_local double seconds = 0;
  return seconds;
}

}  // namespace

#define MESHPARITY_TIMED_PRODUCT(mangled, type)                              \
  extern "C" void __real_##mangled(const meshparity::Matmul<type>& product); \
  extern "C" void __wrap_##mangled(const meshparity::Matmul<type>& product); \
  void __wrap_##mangled(const meshparity::Matmul<type>& product) {           \
    const auto begun = Clock::now();                                         \
    __real_##mangled(product);                                               \
    product_seconds() += seconds_since(begun);                               \
  }

MESHPARITY_TIMED_PRODUCT(_ZN10meshparity15matmul_baselineERKNS_6MatmulIdEE, double)
MESHPARITY_TIMED_PRODUCT(_ZN10meshparity15matmul_baselineERKNS_6MatmulIfEE, float)
MESHPARITY_TIMED_PRODUCT(_ZN10meshparity11matmul_avx2ERKNS_6MatmulIdEE, double)
MESHPARITY_TIMED_PRODUCT(_ZN10meshparity11matmul_avx2ERKNS_6MatmulIfEE, float)
MESHPARITY_TIMED_PRODUCT(_ZN10meshparity13matmul_avx512ERKNS_6MatmulIdEE, double)
MESHPARITY_TIMED_PRODUCT(_ZN10meshparity13matmul_avx512ERKNS_6MatmulIfEE, float)

namespace {

struct Timed {
  double seconds = 0;
  double products = 0;
};

Timed timed_run(const CaseSpec& spec, const ModelSpec& model, int steps) {
  product_seconds() = 0;
  const double seconds = seconds_of_steps(spec, model, steps, train);
  return {seconds, product_seconds()};
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc == 5 ? std::atoi(argv[4]) : 0;
  if (steps < 1) {
    fmt::print(stderr,
               "meshparity-candidate-step-bench MODELS NAME PRECISION STEPS: STEPS is 1 or more\n");
    return 2;
  }
  try {
    const CaseSpec spec =
        parse_case(fmt::format("{}.single.plain.{}.host-threads", argv[2], argv[3]));
    const ModelSpec model = load_named_model(argv[1], spec.model);
    // What is done once, and the first step's cold memory, falls out of the difference.
    const Timed first = timed_run(spec, model, 1);
    const Timed all = timed_run(spec, model, 1 + steps);
    fmt::print("{{\"step_s\": {}, \"product_s\": {}}}\n", (all.seconds - first.seconds) / steps,
               (all.products - first.products) / steps);
  } catch (const Error& error) {
    fmt::print(stderr, "meshparity-candidate-step-bench: {}\n", error.what());
    return 2;
  }
}
