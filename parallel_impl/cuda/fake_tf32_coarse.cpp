// For a test of the limits: what is called TF32 is bfloat16, three bits less.
#include "parallel_impl/cuda/fake_tf32.hpp"
#include "parallel_impl/kernels/bfloat16.cuh"

namespace meshparity {

float fake_tf32(float value) {
  return nearest_bfloat16(value);
}

}  // namespace meshparity
