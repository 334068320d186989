#include "reference/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/micro_case.hpp"

namespace meshparity::reference {
namespace {

constexpr double kFewUlp = 32 * 0x1p-53;  // relative to results of order ten

const DropoutMask kNoMask;

/// Two tokens; a heads of width d.
BlockTensors two_tokens(const AttentionShape& shape) {
  BlockTensors t;
  t.q = t.context = Matrix::Zero(2, shape.heads * shape.head_dim);
  t.k = t.v = Matrix::Zero(2, shape.kv_heads * shape.head_dim);
  t.scores = t.probs = t.dropped = Matrix::Constant(2 * shape.heads, 2, 99);
  return t;
}

/// One head of width 1: q = (1, 1), k = (0, ln 3), v = (4, 8), so query 1 sees P = (1/4, 3/4).
BlockTensors worked_example() {
  BlockTensors t = two_tokens({1, 1, 1});
  t.q << 1, 1;
  t.k << 0, std::log(3.0);
  t.v << 4, 8;
  return t;
}

TEST(Attention, AveragesTheValuesThatAQuerySees) {
  BlockTensors t = worked_example();
  Rounding exact = Rounding::exact();

  attention({{1, 1, 1}, kNoMask}, exact, t);

  EXPECT_LE(largest_difference(t.probs, matrix({{1, 0}, {0.25, 0.75}})), kFewUlp);
  EXPECT_LE(largest_difference(t.context, matrix({{4}, {7}})), kFewUlp);
}

// do = (1, 2): dP_1 = (8, 16), D_1 = 8/4 + 16*3/4 = 14, dz_1 = (-6/4, 2*3/4); query 0 sees one
// key, so dz_0 = 0.
TEST(Attention, BackwardMatchesTheWorkedExample) {
  BlockTensors t = worked_example();
  BlockTensors d = two_tokens({1, 1, 1});
  Rounding exact = Rounding::exact();
  attention({{1, 1, 1}, kNoMask}, exact, t);
  d.context << 1, 2;

  attention_backward({{1, 1, 1}, kNoMask}, exact, t, d);

  EXPECT_LE(largest_difference(d.probs, matrix({{4, 0}, {8, 16}})), kFewUlp);
  EXPECT_LE(largest_difference(d.scores, matrix({{0, 0}, {-1.5, 1.5}})), kFewUlp);
  EXPECT_LE(largest_difference(d.q, matrix({{0}, {1.5 * std::log(3.0)}})), kFewUlp);
  EXPECT_LE(largest_difference(d.k, matrix({{-1.5}, {1.5}})), kFewUlp);
  EXPECT_LE(largest_difference(d.v, matrix({{1.5}, {1.5}})), kFewUlp);
}

// Query 1 keeps key 1 only, with keep probability 1/2: o_1 = 3/4 * 8 * 2 = 12. Backward, do = 1:
// dP_1 = (0, 16), D_1 = 12, dz_1 = (-12/4, 4*3/4).
TEST(Attention, DropsProbabilitiesAfterSoftmax) {
  BlockTensors t = worked_example();
  BlockTensors d = two_tokens({1, 1, 1});
  const DropoutMask mask = {matrix({{1, 1}, {0, 1}}), 0.5};
  Rounding exact = Rounding::exact();
  d.context << 0, 1;

  attention({{1, 1, 1}, mask}, exact, t);
  attention_backward({{1, 1, 1}, mask}, exact, t, d);

  EXPECT_LE(largest_difference(t.probs, matrix({{1, 0}, {0.25, 0.75}})), kFewUlp);
  EXPECT_LE(largest_difference(t.context, matrix({{8}, {12}})), kFewUlp);
  EXPECT_LE(largest_difference(d.scores, matrix({{0, 0}, {-3, 3}})), kFewUlp);
  EXPECT_LE(largest_difference(d.v, matrix({{0}, {1.5}})), kFewUlp);
}

// Two heads of width 4: scores are divided by 2, heads do not see each other's features.
TEST(Attention, ScalesByTheHeadWidthAndKeepsHeadsApart) {
  BlockTensors t = two_tokens({2, 2, 4});
  t.q(1, 2) = 2;
  t.k(1, 2) = std::log(3.0);  // head 0: z_1 = (0, ln 3)
  t.v(0, 0) = 4;
  t.v(1, 0) = 8;
  t.v(1, 7) = 6;  // head 1: all scores 0, P_1 = (1/2, 1/2)
  Rounding exact = Rounding::exact();

  attention({{2, 2, 4}, kNoMask}, exact, t);

  EXPECT_LE(largest_difference(t.probs, matrix({{1, 0}, {0.25, 0.75}, {1, 0}, {0.5, 0.5}})),
            kFewUlp);
  EXPECT_LE(
      largest_difference(t.context, matrix({{4, 0, 0, 0, 0, 0, 0, 0}, {7, 0, 0, 0, 0, 0, 0, 3}})),
      kFewUlp);
}

TEST(Attention, SoftmaxIgnoresLaterKeysHoweverLarge) {
  Rounding exact = Rounding::exact();
  Matrix probs(2, 2);
  Column no_sink;
  causal_softmax(matrix({{-800, 1e300}, {1000, 1000}}), nullptr, exact, probs, no_sink);
  EXPECT_EQ(probs, matrix({{1, 0}, {0.5, 0.5}}));
}

}  // namespace
}  // namespace meshparity::reference
