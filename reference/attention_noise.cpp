#include "reference/attention_noise.hpp"

namespace meshparity::reference {
namespace {

/// squares(r, head*d + f) = pair_squares(r, head) value_squares(r, head*d + f) / terms(r)
void scale_by_pairs(const AttentionShape& shape, const Matrix& pair_squares, const Column& terms,
                    Matrix& value_squares) {
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    value_squares.middleCols(head * shape.head_dim, shape.head_dim).array().colwise() *=
        pair_squares.col(head).array() / terms.array();
  }
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
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    rounding.product(pairs.middleRows(head * left.rows(), left.rows()),
                     left.middleCols(head * width, width).rowwise().squaredNorm(),
                     right.middleCols(head * width, width).rowwise().squaredNorm().transpose(),
                     static_cast<double>(width));
  }
}

void add_key_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                       Rounding& rounding, Matrix& sums) {
  if (rounding.is_exact()) {
    return;
  }
  const Eigen::Index sequence = values.rows();
  Matrix pair_squares(sequence, shape.heads);
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    pair_squares.col(head) = pairs.middleRows(head * sequence, sequence).rowwise().squaredNorm();
  }
  Matrix squares = values.cwiseAbs2();
  for (Eigen::Index row = 1; row < sequence; ++row) {
    squares.row(row) += squares.row(row - 1);
  }
  const Column terms = Column::LinSpaced(sequence, 1, static_cast<double>(sequence));
  scale_by_pairs(shape, pair_squares, terms, squares);
  rounding.sums(sums, squares, terms);
}

void add_query_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                         Rounding& rounding, Matrix& sums) {
  if (rounding.is_exact()) {
    return;
  }
  const Eigen::Index sequence = values.rows();
  Matrix pair_squares(sequence, shape.heads);
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    pair_squares.col(head) =
        pairs.middleRows(head * sequence, sequence).colwise().squaredNorm().transpose();
  }
  Matrix squares = values.cwiseAbs2();
  for (Eigen::Index row = sequence - 1; row > 0; --row) {
    squares.row(row - 1) += squares.row(row);
  }
  const Column terms = Column::LinSpaced(sequence, static_cast<double>(sequence), 1);
  scale_by_pairs(shape, pair_squares, terms, squares);
  rounding.sums(sums, squares, terms);
}

}  // namespace meshparity::reference
