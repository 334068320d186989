#include "reference/rope.hpp"

#include <cmath>

namespace meshparity::reference {
namespace {

/// (a, b) becomes (b, a) in every pair.
Matrix partners(const Matrix& values) {
  Matrix swapped(values.rows(), values.cols());
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); j += 2) {
      swapped(i, j) = values(i, j + 1);
      swapped(i, j + 1) = values(i, j);
    }
  }
  return swapped;
}

/// The table as this run holds it; a pair's two entries are one constant.
Matrix held(Constant name, const Matrix& table, const Rounding& rounding) {
  Matrix values = table;
  if (rounding.is_exact()) {
    return values;
  }
  for (Eigen::Index i = 0; i < table.rows(); ++i) {
    for (Eigen::Index j = 0; j < table.cols(); ++j) {
      const auto pair = static_cast<std::uint64_t>((i * table.cols() + j) / 2);
      values(i, j) = rounding.constant(name, table(i, j), pair);
    }
  }
  return values;
}

/// Multiplies each head's columns by the factors [S, d].
void multiply_heads(const Matrix& factors, Matrix& values) {
  for (Eigen::Index first = 0; first < values.cols(); first += factors.cols()) {
    values.middleCols(first, factors.cols()).array() *= factors.array();
  }
}

}  // namespace

Rope::Rope(const ModelSpec& model)
    : cosines_(model.sequence, model.head_dim), sines_(model.sequence, model.head_dim) {
  for (int p = 0; p < model.sequence; ++p) {
    for (int j = 0; j < model.head_dim; j += 2) {
      const double frequency = std::pow(model.rope_base, -static_cast<double>(j) / model.head_dim);
      const double angle = (model.position_offset + p) * frequency;
      cosines_(p, j) = cosines_(p, j + 1) = std::cos(angle);
      sines_(p, j) = -std::sin(angle);
      sines_(p, j + 1) = std::sin(angle);
    }
  }
}

void Rope::turn_by(const Matrix& sines, Rounding& rounding, Matrix& values) const {
  Matrix crossed = partners(values);
  multiply_heads(held(Constant::rope_sine, sines, rounding), crossed);
  rounding.elementwise(crossed);
  multiply_heads(held(Constant::rope_cosine, cosines_, rounding), values);
  rounding.elementwise(values);
  values += crossed;
  rounding.elementwise(values);
}

}  // namespace meshparity::reference
