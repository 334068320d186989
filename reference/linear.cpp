#include "reference/linear.hpp"

#include "reference/products.hpp"

namespace meshparity::reference {
namespace {

Column squares_of_rows(const Matrix& x, const Rounding& rounding) {
  return rounding.is_exact() ? Column() : Column(x.rowwise().squaredNorm());
}

}  // namespace

void multiply(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y) {
  Matrix copy;
  multiply_into(rounding.operand(x, copy), w.in_product(), rounding, y);
  rounding.product(y, squares_of_rows(x, rounding), w.column_squares,
                   static_cast<double>(x.cols()));
}

void multiply_transposed(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y) {
  Matrix copy;
  multiply_into(rounding.operand(x, copy), w.in_transposed_product().transpose(), rounding, y);
  rounding.product(y, squares_of_rows(x, rounding), w.row_squares.transpose(),
                   static_cast<double>(x.cols()));
}

void linear(const Matrix& x, const Weights& weights, LinearPlace place, Rounding& rounding,
            Matrix& y) {
  multiply(x, weights[place.weight], rounding, y);
  if (place.bias) {
    y.rowwise() += weights[*place.bias].value.row(0);
    rounding.elementwise(y);
  }
}

void add_product(const Matrix& left, const Matrix& right, Rounding& rounding, GradientSum& sum) {
  Matrix left_copy;
  Matrix right_copy;
  const Matrix& first = rounding.operand(left, left_copy);
  sum.add_product(first, rounding.operand(right, right_copy));
}

void add_linear_gradient(const Matrix& x, const Matrix& dy, LinearPlace place, Rounding& rounding,
                         std::vector<GradientSum>& gradients) {
  add_product(x, dy, rounding, gradients[place.weight]);
  if (place.bias) {
    gradients[*place.bias].add_rows(dy);
  }
}

}  // namespace meshparity::reference
