#include "reference/query_key.hpp"

namespace meshparity::reference {
namespace {

/// [S, heads*d] as [S*heads, d]: the same elements in the same order.
Matrix one_row_a_head(const Matrix& values, Eigen::Index head_dim) {
  return Eigen::Map<const Matrix>(values.data(), values.size() / head_dim, head_dim);
}

}  // namespace

void enter_scores(const ScorePath& path, const Matrix& projection, Rounding& rounding,
                  NormTrace& trace, Matrix& y) {
  y = projection;
  if (path.norm) {
    const NormWeights& weights = path.norm->weights;
    const Matrix heads = one_row_a_head(projection, weights.weight.cols());
    Matrix normed;
    rms_norm(heads, weights, rounding, trace, normed);
    y = Eigen::Map<const Matrix>(normed.data(), y.rows(), y.cols());
  }
  if (path.rope != nullptr) {
    path.rope->turn(rounding, y);
  }
}

void enter_scores_backward(const ScorePath& path, const NormTrace& trace, Rounding& rounding,
                           Matrix& gradient, std::vector<GradientSum>& sums) {
  if (path.rope != nullptr) {
    path.rope->turn_back(rounding, gradient);
  }
  if (path.norm) {
    const Matrix& weight = path.norm->weights.weight;
    const Matrix heads = one_row_a_head(gradient, weight.cols());
    add_norm_gradient(heads, trace, path.norm->place, sums);
    Matrix before;
    rms_norm_backward(heads, weight, trace, rounding, before);
    gradient = Eigen::Map<const Matrix>(before.data(), gradient.rows(), gradient.cols());
  }
}

}  // namespace meshparity::reference
