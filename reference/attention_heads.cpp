#include "reference/attention_heads.hpp"

#include "reference/attention_noise.hpp"
#include "reference/products.hpp"

namespace meshparity::reference {
namespace {

/// Below, a product is evaluated coefficient by coefficient (lazyProduct), along rows that lie
/// together in memory: hence the transposed copies, [a*d, S], named with a _t. Above, by blocks.
constexpr Eigen::Index kWide = 16;

template <class Left, class Right, class Out>
void add_product_to(const Left& left, const Right& right, Eigen::Index width,
                    const Rounding& rounding, Out out) {
  if (rounding.in_float()) {
    Matrix product(out.rows(), out.cols());
    multiply_into(left, right, rounding, product);
    out = (out + product).template cast<float>().template cast<double>();
  } else if (width < kWide) {
    out += left.lazyProduct(right);
  } else {
    out.noalias() += left * right;
  }
}

/// Parts of matrices that belong to a head; `key` is the key head that query head `head` reads.
struct Heads {
  Eigen::Index width, group, sequence;

  Heads(const AttentionShape& shape, const Matrix& pairs)
      : width(shape.head_dim), group(shape.group()), sequence(pairs.cols()) {}

  Eigen::Index key(Eigen::Index head) const { return head / group; }
  template <class Pairs>
  auto rows(Pairs& pairs, Eigen::Index head) const {
    return pairs.middleRows(head * sequence, sequence);
  }
  template <class Values>
  auto columns(Values& values, Eigen::Index head) const {
    return values.middleCols(head * width, width);
  }
  template <class Values>
  auto features(Values& values_t, Eigen::Index head) const {
    return values_t.middleRows(head * width, width);
  }
};

}  // namespace

void pair_products(const AttentionShape& shape, const Matrix& left, const Matrix& right,
                   Rounding& rounding, Matrix& pairs) {
  const Heads heads(shape, pairs);
  Matrix left_copy;
  Matrix right_copy;
  const Matrix& first = rounding.operand(left, left_copy);
  const Matrix right_t = rounding.operand(right, right_copy).transpose();
  pairs.setZero();
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    add_product_to(heads.columns(first, head), heads.features(right_t, heads.key(head)),
                   heads.width, rounding, heads.rows(pairs, head));
  }
  add_pair_noise(shape, left, right, rounding, pairs);
}

void sum_over_keys(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                   Rounding& rounding, Matrix& sums) {
  const Heads heads(shape, pairs);
  Matrix pairs_copy;
  Matrix values_copy;
  const Matrix& weights = rounding.operand(pairs, pairs_copy);
  const Matrix values_t = rounding.operand(values, values_copy).transpose();
  sums.setZero();
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    add_product_to(heads.rows(weights, head), heads.features(values_t, heads.key(head)).transpose(),
                   heads.width, rounding, heads.columns(sums, head));
  }
  add_key_sum_noise(shape, pairs, values, rounding, sums);
}

void sum_over_queries(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                      Rounding& rounding, Matrix& sums) {
  const Heads heads(shape, pairs);
  Matrix pairs_copy;
  Matrix values_copy;
  const Matrix& weights = rounding.operand(pairs, pairs_copy);
  const Matrix values_t = rounding.operand(values, values_copy).transpose();
  Matrix sums_t = Matrix::Zero(sums.cols(), sums.rows());
  for (Eigen::Index head = 0; head < shape.heads; ++head) {
    add_product_to(heads.features(values_t, head), heads.rows(weights, head), heads.width, rounding,
                   heads.features(sums_t, heads.key(head)));
  }
  sums = sums_t.transpose();
  add_query_sum_noise(shape, pairs, values, rounding, sums);
}

}  // namespace meshparity::reference
