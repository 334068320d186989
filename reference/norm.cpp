#include "reference/norm.hpp"

namespace meshparity::reference {
namespace {

/// Mean of each row.
Column row_means(const Matrix& terms, Rounding& rounding) {
  Column means = terms.rowwise().sum();
  rounding.row_sums(means, terms);
  means /= rounding.divisor(Constant::mean_count, static_cast<double>(terms.cols()));
  rounding.elementwise(means);
  return means;
}

/// 1 / sqrt(mean of squares + epsilon) of each row; `squares` is workspace.
Column inverse_deviations(const Matrix& centred, double epsilon, Rounding& rounding,
                          Matrix& squares) {
  squares = centred.cwiseAbs2();
  Column inverse = row_means(squares, rounding);
  inverse.array() += epsilon;
  rounding.elementwise(inverse);
  inverse = inverse.array().sqrt().inverse();
  rounding.elementwise(inverse, 2);
  return inverse;
}

/// y = w x^ + b
void scale_and_shift(const Matrix& normalised, const NormWeights& weights, Rounding& rounding,
                     Matrix& y) {
  y = normalised.array().rowwise() * weights.weight.row(0).array();
  rounding.elementwise(y);
  if (weights.bias != nullptr) {
    y.rowwise() += weights.bias->row(0);
    rounding.elementwise(y);
  }
}

/// q = w dy
Matrix weighted(const Matrix& dy, const Matrix& weight, Rounding& rounding) {
  Matrix q = dy.array().rowwise() * weight.row(0).array();
  rounding.elementwise(q);
  return q;
}

/// dx -= x^ mean(q x^), then dx /= deviation; `q` is used up.
void project_and_divide(const NormTrace& trace, Rounding& rounding, Matrix& q, Matrix& dx) {
  q.array() *= trace.normalised.array();
  const Column projection = row_means(q, rounding);
  q = trace.normalised.array().colwise() * projection.array();
  rounding.elementwise(q);
  dx -= q;
  rounding.elementwise(dx);
  dx.array().colwise() *= trace.inverse_deviation.array();
  rounding.elementwise(dx);
}

}  // namespace

void norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
          Matrix& y) {
  weights.kind == Norm::layernorm ? layer_norm(x, weights, rounding, trace, y)
                                  : rms_norm(x, weights, rounding, trace, y);
}

void norm_backward(const Matrix& dy, const NormWeights& weights, const NormTrace& trace,
                   Rounding& rounding, Matrix& dx) {
  weights.kind == Norm::layernorm ? layer_norm_backward(dy, weights.weight, trace, rounding, dx)
                                  : rms_norm_backward(dy, weights.weight, trace, rounding, dx);
}

void add_norm_gradient(const Matrix& dy, const NormTrace& trace, NormPlace place,
                       std::vector<GradientSum>& gradients) {
  gradients[place.weight].add_rows(dy.cwiseProduct(trace.normalised));
  if (place.bias) {
    gradients[*place.bias].add_rows(dy);
  }
}

void layer_norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
                Matrix& y) {
  Matrix& normalised = trace.normalised;
  normalised = x.colwise() - row_means(x, rounding);
  rounding.elementwise(normalised);
  trace.inverse_deviation = inverse_deviations(normalised, weights.epsilon, rounding, y);
  normalised.array().colwise() *= trace.inverse_deviation.array();
  rounding.elementwise(normalised);
  scale_and_shift(normalised, weights, rounding, y);
}

void layer_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                         Rounding& rounding, Matrix& dx) {
  Matrix q = weighted(dy, weight, rounding);
  dx = q.colwise() - row_means(q, rounding);
  rounding.elementwise(dx);
  project_and_divide(trace, rounding, q, dx);
}

void rms_norm(const Matrix& x, const NormWeights& weights, Rounding& rounding, NormTrace& trace,
              Matrix& y) {
  trace.inverse_deviation = inverse_deviations(x, weights.epsilon, rounding, y);
  trace.normalised = x.array().colwise() * trace.inverse_deviation.array();
  rounding.elementwise(trace.normalised);
  scale_and_shift(trace.normalised, weights, rounding, y);
}

void rms_norm_backward(const Matrix& dy, const Matrix& weight, const NormTrace& trace,
                       Rounding& rounding, Matrix& dx) {
  Matrix q = weighted(dy, weight, rounding);
  dx = q;
  project_and_divide(trace, rounding, q, dx);
}

}  // namespace meshparity::reference
