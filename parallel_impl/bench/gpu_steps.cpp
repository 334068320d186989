#include "parallel_impl/bench/gpu_steps.hpp"

#include <fmt/format.h>

#include <vector>

#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/backend/cuda_backend.hpp"
#include "parallel_impl/bench/lone_rank.hpp"
#include "parallel_impl/train_on_cuda.hpp"

namespace meshparity {
namespace {

const std::vector<float> kNumbers = {1 + 0x1.8p-11F, 1 + 0x1p-11F, 1 + 3 * 0x1p-11F};

std::string rounding_that_gave(const std::vector<float>& rounded) {
  constexpr float kNext = 1 + 0x1p-10F;
  constexpr float kAfter = 1 + 0x1p-9F;
  if (rounded == kNumbers) {
    return "not at all";
  }
  if (rounded == std::vector<float>{kNext, kNext, kAfter}) {
    return "to nearest, ties away from zero";
  }
  if (rounded == std::vector<float>{kNext, 1, kAfter}) {
    return "to nearest, ties to even";
  }
  if (rounded == std::vector<float>{1, 1, kNext}) {
    return "towards zero";
  }
  return fmt::format("in its own way: {:a} {:a} {:a}", rounded[0], rounded[1], rounded[2]);
}

}  // namespace

double step_seconds(const std::filesystem::path& models, const std::string& case_id, int steps) {
  const CaseSpec spec = parse_case(case_id);
  const ModelSpec model = load_named_model(models, spec.model);
  seconds_of_steps(spec, model, 1, train_on_cuda);  // warms up
  const double first = seconds_of_steps(spec, model, 1, train_on_cuda);
  return (seconds_of_steps(spec, model, 1 + steps, train_on_cuda) - first) / steps;
}

// Wide enough for tensor cores: the numbers lie on a diagonal, all else is zero.
std::string tf32_rounding() {
  constexpr int kSide = 256;
  const auto stream = std::make_shared<CudaStream>();
  const auto backend = make_cuda_backend<float>(stream, ProductKind::tf32);
  std::vector<float> a(kSide * kSide), b(kSide * kSide), out(kSide * kSide);
  for (std::size_t i = 0; i < kSide; ++i) {
    a[i * kSide + i] = kNumbers[i % kNumbers.size()];
    b[i * kSide + i] = 1;
  }
  Buffer<float> left(*backend, MemoryTag::buffer, kSide * kSide);
  Buffer<float> right(*backend, MemoryTag::buffer, kSide * kSide);
  Buffer<float> product(*backend, MemoryTag::buffer, kSide * kSide);
  left.upload(a);
  right.upload(b);
  backend->run(Matmul<float>{left.data(), kSide, 1, right.data(), kSide, 1, product.data(), kSide,
                             kSide, kSide});
  backend->download(product.data(), out.data(), out.size() * sizeof(float));
  return rounding_that_gave({out[0], out[kSide + 1], out[2 * (kSide + 1)]});
}

}  // namespace meshparity
