#include "reference/linear.hpp"

namespace meshparity::reference {
namespace {

Column squares_of_rows(const Matrix& x, const Rounding& rounding) {
  return rounding.is_exact() ? Column() : Column(x.rowwise().squaredNorm());
}

}  // namespace

void multiply(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y) {
  y.noalias() = x * w.value;
  rounding.product(y, squares_of_rows(x, rounding), w.column_squares,
                   static_cast<double>(x.cols()));
}

void multiply_transposed(const Matrix& x, const Weight& w, Rounding& rounding, Matrix& y) {
  y.noalias() = x * w.value.transpose();
  rounding.product(y, squares_of_rows(x, rounding), w.row_squares.transpose(),
                   static_cast<double>(x.cols()));
}

void linear(const Matrix& x, const Weights& weights, LinearPlace place, Rounding& rounding,
            Matrix& y) {
  multiply(x, weights[place.weight], rounding, y);
  y.rowwise() += weights[place.bias].value.row(0);
  rounding.elementwise(y);
}

void add_linear_gradient(const Matrix& x, const Matrix& dy, LinearPlace place,
                         std::vector<GradientSum>& gradients) {
  gradients[place.weight].add_product(x, dy);
  gradients[place.bias].add_rows(dy);
}

}  // namespace meshparity::reference
