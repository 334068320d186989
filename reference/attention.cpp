#include "reference/attention.hpp"

#include <cmath>

#include "reference/attention_noise.hpp"

namespace meshparity::reference {
namespace {

/// Keys that the query of a row of an attention matrix sees.
Eigen::Index visible(Eigen::Index row, Eigen::Index sequence) {
  return row % sequence + 1;
}

/// The products of a head are small ([S,d] with d about 3), so they are evaluated coefficient by
/// coefficient (lazyProduct), along rows that lie together in memory: hence the transposed copies,
/// [a*d, S], named with a _t.
struct Heads {
  Eigen::Index count, width, sequence;

  Heads(const AttentionShape& shape, const Matrix& values)
      : count(shape.heads), width(shape.head_dim), sequence(values.rows()) {}

  auto rows(Matrix& pairs, Eigen::Index head) const {
    return pairs.middleRows(head * sequence, sequence);
  }
  auto rows(const Matrix& pairs, Eigen::Index head) const {
    return pairs.middleRows(head * sequence, sequence);
  }
  auto columns(Matrix& values, Eigen::Index head) const {
    return values.middleCols(head * width, width);
  }
  auto columns(const Matrix& values, Eigen::Index head) const {
    return values.middleCols(head * width, width);
  }
  auto features(Matrix& values_t, Eigen::Index head) const {
    return values_t.middleRows(head * width, width);
  }
  auto features(const Matrix& values_t, Eigen::Index head) const {
    return values_t.middleRows(head * width, width);
  }

  /// pairs_ij = left_i . right_j
  void pair_products(const Matrix& left, const Matrix& right_t, Matrix& pairs) const {
    for (Eigen::Index head = 0; head < count; ++head) {
      rows(pairs, head).noalias() = columns(left, head).lazyProduct(features(right_t, head));
    }
  }
  /// sums_i = sum_j pairs_ij values_j
  void sum_over_keys(const Matrix& pairs, const Matrix& values_t, Matrix& sums) const {
    for (Eigen::Index head = 0; head < count; ++head) {
      columns(sums, head).noalias() =
          rows(pairs, head).lazyProduct(features(values_t, head).transpose());
    }
  }
  /// sums_j = sum_i pairs_ij values_i
  void sum_over_queries(const Matrix& pairs, const Matrix& values_t, Matrix& sums) const {
    Matrix sums_t(values_t.rows(), values_t.cols());
    for (Eigen::Index head = 0; head < count; ++head) {
      features(sums_t, head).noalias() = features(values_t, head).lazyProduct(rows(pairs, head));
    }
    sums = sums_t.transpose();
  }
};

void hide_later_keys(Matrix& pairs) {
  const Eigen::Index sequence = pairs.cols();
  for (Eigen::Index row = 0; row < pairs.rows(); ++row) {
    pairs.row(row).tail(sequence - visible(row, sequence)).setZero();
  }
}

double score_scale(const AttentionShape& shape) {
  return 1 / std::sqrt(static_cast<double>(shape.head_dim));
}

}  // namespace

void causal_softmax(const Matrix& scores, Rounding& rounding, Matrix& probs) {
  const Eigen::Index sequence = scores.cols();
  for (Eigen::Index row = 0; row < scores.rows(); ++row) {
    const Eigen::Index keys = visible(row, sequence);
    const double maximum = scores.row(row).head(keys).maxCoeff();
    probs.row(row).head(keys) = scores.row(row).head(keys).array() - maximum;
    probs.row(row).tail(sequence - keys).setZero();
  }
  rounding.elementwise(probs);
  probs = probs.array().exp();
  hide_later_keys(probs);
  rounding.elementwise(probs);
  Column denominators = probs.rowwise().sum();
  if (!rounding.is_exact()) {
    rounding.row_sums(denominators, probs, visible_counts(probs));
  }
  probs.array().colwise() /= denominators.array();
  rounding.elementwise(probs);
}

void causal_softmax_backward(const Matrix& probs, const Matrix& dprobs, Rounding& rounding,
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
}

void attention(const AttentionShape& shape, const DropoutMask& mask, Rounding& rounding,
               BlockTensors& t) {
  const Heads heads(shape, t.q);
  heads.pair_products(t.q, t.k.transpose(), t.scores);
  add_pair_noise(shape, t.q, t.k, rounding, t.scores);
  t.scores *= score_scale(shape);
  rounding.elementwise(t.scores);
  causal_softmax(t.scores, rounding, t.probs);
  dropout(t.probs, mask, rounding, t.dropped);
  heads.sum_over_keys(t.dropped, t.v.transpose(), t.context);
  add_key_sum_noise(shape, t.dropped, t.v, rounding, t.context);
}

void attention_backward(const AttentionShape& shape, const DropoutMask& mask, Rounding& rounding,
                        const BlockTensors& t, BlockTensors& d) {
  const Heads heads(shape, t.q);
  heads.pair_products(d.context, t.v.transpose(), d.dropped);
  add_pair_noise(shape, d.context, t.v, rounding, d.dropped);
  hide_later_keys(d.dropped);
  dropout(d.dropped, mask, rounding, d.probs);
  causal_softmax_backward(t.probs, d.probs, rounding, d.scores);

  heads.sum_over_queries(t.dropped, d.context.transpose(), d.v);
  add_query_sum_noise(shape, t.dropped, d.context, rounding, d.v);
  heads.sum_over_keys(d.scores, t.k.transpose(), d.q);
  add_key_sum_noise(shape, d.scores, t.k, rounding, d.q);
  heads.sum_over_queries(d.scores, t.q.transpose(), d.k);
  add_query_sum_noise(shape, d.scores, t.q, rounding, d.k);
  d.q *= score_scale(shape);
  rounding.elementwise(d.q);
  d.k *= score_scale(shape);
  rounding.elementwise(d.k);
}

}  // namespace meshparity::reference
