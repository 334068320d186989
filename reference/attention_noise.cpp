#include "reference/attention_noise.hpp"

namespace meshparity::reference {
namespace {

/// Squares of values, each row with those of all rows before it.
Matrix squares_up_to(const Matrix& values) {
  Matrix squares = values.cwiseAbs2();
  for (Eigen::Index row = 1; row < squares.rows(); ++row) {
    squares.row(row) += squares.row(row - 1);
  }
  return squares;
}

/// Squares of values, each row with those of all rows after it.
Matrix squares_from(const Matrix& values) {
  Matrix squares = values.cwiseAbs2();
  for (Eigen::Index row = squares.rows() - 1; row > 0; --row) {
    squares.row(row - 1) += squares.row(row);
  }
  return squares;
}

}  // namespace

Column visible_counts(const Matrix& pairs) {
  return Column::NullaryExpr(
      pairs.rows(), [&](Eigen::Index row) { return static_cast<double>(row % pairs.cols() + 1); });
}

void add_pair_noise(const AttentionShape& shape, const Matrix& left, const Matrix& right,
                    Rounding& rounding, Matrix& pairs) {
  if (rounding.is_exact()) {
    return;
  }
  const Eigen::Index width = shape.head_dim;
  const Eigen::Index sequence = left.rows();
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    const Eigen::Index key = head / shape.group();
    rounding.product(pairs.middleRows(head * sequence, sequence),
                     left.middleCols(head * width, width).rowwise().squaredNorm(),
                     right.middleCols(key * width, width).rowwise().squaredNorm().transpose(),
                     static_cast<double>(width));
  }
}

void add_key_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                       Rounding& rounding, Matrix& sums) {
  if (rounding.is_exact()) {
    return;
  }
  const Eigen::Index width = shape.head_dim;
  const Eigen::Index sequence = values.rows();
  const Matrix value_squares = squares_up_to(values);
  const Column terms = Column::LinSpaced(sequence, 1, static_cast<double>(sequence));
  Matrix squares(sums.rows(), sums.cols());
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    const Column factor =
        pairs.middleRows(head * sequence, sequence).rowwise().squaredNorm().array() / terms.array();
    squares.middleCols(head * width, width) =
        value_squares.middleCols(head / shape.group() * width, width).array().colwise() *
        factor.array();
  }
  rounding.sums(sums, squares, terms);
}

void add_query_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                         Rounding& rounding, Matrix& sums) {
  if (rounding.is_exact()) {
    return;
  }
  const Eigen::Index width = shape.head_dim;
  const Eigen::Index sequence = values.rows();
  const Matrix value_squares = squares_from(values);
  const Column terms =
      Column::LinSpaced(sequence, static_cast<double>(sequence), 1) * shape.group();
  Matrix squares(sums.rows(), sums.cols());
  for (Eigen::Index key = 0; key < shape.kv_heads; ++key) {
    Column of_pairs = Column::Zero(sequence);
    Matrix of_values = Matrix::Zero(sequence, width);
    for (Eigen::Index head = key * shape.group(); head < (key + 1) * shape.group(); ++head) {
      of_pairs += pairs.middleRows(head * sequence, sequence).colwise().squaredNorm().transpose();
      of_values += value_squares.middleCols(head * width, width);
    }
    squares.middleCols(key * width, width) =
        of_values.array().colwise() * (of_pairs.array() / terms.array());
  }
  rounding.sums(sums, squares, terms);
}

}  // namespace meshparity::reference
