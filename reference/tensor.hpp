// The matrices of the reference: FP64, row-major, one row a token.
#pragma once
#include <Eigen/Core>

namespace meshparity::reference {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Matrix<double, 1, Eigen::Dynamic, Eigen::RowMajor>;
using Column = Eigen::Matrix<double, Eigen::Dynamic, 1>;

/// Whole rows of a matrix, or a block of its columns.
using MatrixView = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixView = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

}  // namespace meshparity::reference
