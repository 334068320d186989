#include "parallel_impl/backend/host_matmul.hpp"
#include "parallel_impl/backend/host_matmul_tiles.hpp"

namespace meshparity {

void matmul_baseline(const Matmul<double>& product) {
  matmul_by_tiles(product);
}

void matmul_baseline(const Matmul<float>& product) {
  matmul_by_tiles(product);
}

}  // namespace meshparity
