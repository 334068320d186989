#include "reference/layer_norm.hpp"

namespace meshparity::reference {
namespace {

/// Mean of each row.
Column row_means(const Matrix& terms, Rounding& rounding) {
  Column means = terms.rowwise().sum();
  rounding.row_sums(means, terms);
  means /= static_cast<double>(terms.cols());
  rounding.elementwise(means);
  return means;
}

}  // namespace

void layer_norm(const Matrix& x, const NormWeights& norm, Rounding& rounding, NormTrace& trace,
                Matrix& y) {
  Matrix& normalised = trace.normalised;
  const Column mean = row_means(x, rounding);
  normalised = x.colwise() - mean;
  rounding.elementwise(normalised);

  y = normalised.cwiseAbs2();
  Column variance = row_means(y, rounding);
  variance.array() += norm.epsilon;
  rounding.elementwise(variance);
  trace.inverse_deviation = variance.array().sqrt().inverse();
  rounding.elementwise(trace.inverse_deviation, 2);

  normalised.array().colwise() *= trace.inverse_deviation.array();
  rounding.elementwise(normalised);
  y = normalised.array().rowwise() * norm.weight.row(0).array();
  rounding.elementwise(y);
  y.rowwise() += norm.bias.row(0);
  rounding.elementwise(y);
}

void add_layer_norm_gradient(const Matrix& dy, const NormTrace& trace, NormPlace place,
                             std::vector<GradientSum>& gradients) {
  gradients[place.weight].add_rows(dy.cwiseProduct(trace.normalised));
  gradients[place.bias].add_rows(dy);
}

void layer_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                         Rounding& rounding, Matrix& dx) {
  const Matrix& normalised = trace.normalised;
  Matrix product = dy.array().rowwise() * weight.row(0).array();  // q
  rounding.elementwise(product);
  const Column mean = row_means(product, rounding);
  dx = product.colwise() - mean;
  rounding.elementwise(dx);

  product.array() *= normalised.array();
  const Column projection = row_means(product, rounding);
  product = normalised.array().colwise() * projection.array();
  rounding.elementwise(product);
  dx -= product;
  rounding.elementwise(dx);
  dx.array().colwise() *= trace.inverse_deviation.array();
  rounding.elementwise(dx);
}

}  // namespace meshparity::reference
