#include "reference/attention.hpp"

#include <cmath>

#include "reference/attention_heads.hpp"
#include "reference/attention_noise.hpp"

namespace meshparity::reference {
namespace {

/// Keys that the query of a row of an attention matrix sees.
Eigen::Index visible(Eigen::Index row, Eigen::Index sequence) {
  return row % sequence + 1;
}

void hide_later_keys(Matrix& pairs) {
  const Eigen::Index sequence = pairs.cols();
  for (Eigen::Index row = 0; row < pairs.rows(); ++row) {
    pairs.row(row).tail(sequence - visible(row, sequence)).setZero();
  }
}

double score_scale(const AttentionShape& shape, const Rounding& rounding) {
  return rounding.constant(Constant::score_scale,
                           1 / std::sqrt(static_cast<double>(shape.head_dim)));
}

/// The largest visible logit of each row, the sink's included.
Column largest_logits(const Matrix& scores, const Matrix* sink) {
  const Eigen::Index sequence = scores.cols();
  Column largest(scores.rows());
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    largest[row] = scores.row(row).head(visible(row, sequence)).maxCoeff();
    if (sink != nullptr) {
      largest[row] = std::max(largest[row], (*sink)(0, row / sequence));
    }
  }
  return largest;
}

/// exp(x - shift) of what is visible, 0 elsewhere.
void shifted_exponentials(const Matrix& scores, const Column& shift, Rounding& rounding,
                          Matrix& y) {
  const Eigen::Index sequence = scores.cols();
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    const Eigen::Index keys = visible(row, sequence);
    y.row(row).head(keys) = scores.row(row).head(keys).array() - shift[row];
    y.row(row).tail(sequence - keys).setZero();
  }
  rounding.elementwise(y);
  y = y.array().exp();
  hide_later_keys(y);
  rounding.elementwise(y);
}

/// exp(s - shift) of each row's head.
Column sink_exponentials(const Matrix& sink, const Column& shift, Rounding& rounding) {
  const Eigen::Index sequence = shift.size() / sink.cols();
  Column y(shift.size());
  for (Eigen::Index row = 0; row < y.size(); ++row) {
    y[row] = sink(0, row / sequence) - shift[row];
  }
  rounding.elementwise(y);
  y = y.array().exp();
  rounding.elementwise(y);
  return y;
}

}  // namespace

void causal_softmax(const Matrix& scores, const Matrix* sink, Rounding& rounding, Matrix& probs,
                    Column& sink_share) {
  const Column largest = largest_logits(scores, sink);
  shifted_exponentials(scores, largest, rounding, probs);
  Column denominators = probs.rowwise().sum();
  if (!rounding.is_exact()) {
    rounding.row_sums(denominators, probs, visible_counts(probs));
  }
  if (sink != nullptr) {
    sink_share = sink_exponentials(*sink, largest, rounding);
    denominators += sink_share;
    rounding.elementwise(denominators);
    sink_share.array() /= denominators.array();
    rounding.elementwise(sink_share);
  }
  probs.array().colwise() /= denominators.array();
  rounding.elementwise(probs);
}

Column causal_softmax_backward(const Matrix& probs, const Matrix& dprobs, Rounding& rounding,
                               Matrix& dscores) {
  dscores = probs.cwiseProduct(dprobs);
  Column projections = dscores.rowwise().sum();
  if (!rounding.is_exact()) {
    rounding.row_sums(projections, dscores, visible_counts(probs));
  }
  dscores = dprobs.colwise() - projections;
  rounding.elementwise(dscores);
  dscores.array() *= probs.array();
  rounding.elementwise(dscores);
  return projections;
}

Matrix one_column_a_head(const Column& values, int heads) {
  return Eigen::Map<const Eigen::MatrixXd>(values.data(), values.size() / heads, heads);
}

void attention(const AttentionInputs& inputs, Rounding& rounding, BlockTensors& t) {
  const AttentionShape& shape = inputs.shape;
  pair_products(shape, t.q, t.k, rounding, t.scores);
  t.scores *= score_scale(shape, rounding);
  rounding.elementwise(t.scores);
  causal_softmax(t.scores, inputs.sink, rounding, t.probs, t.sink);
  dropout(t.probs, inputs.mask, rounding, t.dropped);
  rounding.stored(t.dropped);
  sum_over_keys(shape, t.dropped, t.v, rounding, t.context);
}

void attention_backward(const AttentionInputs& inputs, Rounding& rounding, const BlockTensors& t,
                        BlockTensors& d) {
  const AttentionShape& shape = inputs.shape;
  pair_products(shape, d.context, t.v, rounding, d.dropped);
  hide_later_keys(d.dropped);
  dropout(d.dropped, inputs.mask, rounding, d.probs);
  const Column projections = causal_softmax_backward(t.probs, d.probs, rounding, d.scores);
  rounding.stored(d.scores);
  if (inputs.sink != nullptr) {
    d.sink = -t.sink.cwiseProduct(projections);
    rounding.elementwise(d.sink);
  }

  sum_over_queries(shape, t.dropped, d.context, rounding, d.v);
  sum_over_keys(shape, d.scores, t.k, rounding, d.q);
  sum_over_queries(shape, d.scores, t.q, rounding, d.k);
  d.q *= score_scale(shape, rounding);
  rounding.elementwise(d.q);
  d.k *= score_scale(shape, rounding);
  rounding.elementwise(d.k);
}

}  // namespace meshparity::reference
