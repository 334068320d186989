// As the conversion of CUDA's own headers does (cvt.rna.tf32.f32): to nearest, ties away from zero.
// How cuBLAS itself rounds is not documented; ci/gpu says what it finds.
#include "parallel_impl/cuda/fake_tf32.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace meshparity {

float fake_tf32(float value) {
  constexpr std::uint32_t kLeftOut = 0x1FFF;  // the 13 last bits of a float's fraction
  if (!std::isfinite(value)) {
    return value;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value) + (kLeftOut + 1) / 2;
  return std::bit_cast<float>(bits & ~kLeftOut);
}

}  // namespace meshparity
