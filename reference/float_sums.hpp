// Sums as a candidate in float forms them: products and additions in float32, the terms of a sum in
// a permuted order and in parts whose sums are added. For runs that round (Rounding::nearest).
#pragma once
#include <cstdint>

#include <Eigen/Core>

#include "reference/tensor.hpp"

namespace meshparity::reference {

/// Which permutation, and in how many parts, as over so many ranks.
struct SumOrder {
  int parts = 1;
  std::uint64_t seed = 0;  // 0: the order in which the terms stand
};

using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// left right, every number a float; in each part by Eigen's native product.
FloatMatrix float_product(const FloatMatrix& left, const FloatMatrix& right, SumOrder order);
/// The sum of each row.
Column float_row_sums(const Matrix& terms, SumOrder order);

}  // namespace meshparity::reference
