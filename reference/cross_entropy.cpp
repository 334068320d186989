#include "reference/cross_entropy.hpp"

#include <cmath>

namespace meshparity::reference {
namespace {

/// (1-s) nll + s uniform, each operation rounded.
double smoothed(double nll, double uniform, double smoothing, Rounding& rounding) {
  if (smoothing == 0) {
    return nll;
  }
  const double of_label = rounding.constant(Constant::label_share, 1 - smoothing);
  const double label_share = rounding.elementwise(of_label * nll);
  const double uniform_share = rounding.elementwise(smoothing * uniform);
  return rounding.elementwise(label_share + uniform_share);
}

}  // namespace

void cross_entropy(const Matrix& logits, const LossTargets& targets, Rounding& rounding,
                   Matrix& probs, Matrix& losses) {
  const auto classes = static_cast<double>(logits.cols());
  Matrix shifted = logits.colwise() - logits.rowwise().maxCoeff();
  rounding.elementwise(shifted);
  probs = shifted.array().exp();
  rounding.elementwise(probs);
  Column denominators = probs.rowwise().sum();
  rounding.row_sums(denominators, probs);
  probs.array().colwise() /= denominators.array();
  rounding.elementwise(probs);

  Column log_denominators = denominators.array().log();
  rounding.elementwise(log_denominators);
  Column mean_shifted = shifted.rowwise().sum();
  rounding.row_sums(mean_shifted, shifted);
  mean_shifted /= rounding.divisor(Constant::mean_count, classes);
  rounding.elementwise(mean_shifted);

  for (Eigen::Index i = 0; i < logits.rows(); ++i) {
    const int label = targets.labels[static_cast<std::size_t>(i)];
    const double nll = rounding.elementwise(log_denominators[i] - shifted(i, label));
    const double uniform = rounding.elementwise(log_denominators[i] - mean_shifted[i]);
    losses(0, i) = targets.weights[i] * smoothed(nll, uniform, targets.smoothing, rounding);
  }
}

void cross_entropy_backward(const Matrix& probs, const LossTargets& targets, Rounding& rounding,
                            Matrix& dlogits) {
  const auto classes = static_cast<double>(probs.cols());
  const double uniform = rounding.constant(Constant::class_share, targets.smoothing / classes);
  const double of_label = rounding.constant(Constant::label_share, 1 - targets.smoothing);
  dlogits = probs.array() - uniform;
  for (Eigen::Index i = 0; i < probs.rows(); ++i) {
    const int label = targets.labels[static_cast<std::size_t>(i)];
    dlogits(i, label) = probs(i, label) - (uniform + of_label);
  }
  rounding.elementwise(dlogits);
  dlogits.array().colwise() *= targets.seeds.transpose().array();
}

}  // namespace meshparity::reference
