// RMSNorm, rope, SwiGLU, grouped key heads and sinks against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "reference/attention_noise.hpp"
#include "reference/micro_case.hpp"
#include "reference/query_key.hpp"
#include "reference/swiglu.hpp"

namespace meshparity::reference {
namespace {

constexpr double kFewUlp = 16 * 0x1p-53;  // relative to results of order ten
const DropoutMask kNoMask;

std::vector<GradientSum> vector_sums(Eigen::Index width) {
  std::vector<GradientSum> sums;
  sums.emplace_back(1, width, GradientKind::per_term, false);
  return sums;
}

// x = (1, 7): mean square 25; with epsilon 11 the root is 6. No mean is taken off.
TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  const Matrix weight = matrix({{6, 12}});
  Rounding exact = Rounding::exact();
  NormTrace trace;
  Matrix y;

  norm(matrix({{1, 7}}), {weight, nullptr, 11, Norm::rmsnorm}, exact, trace, y);

  EXPECT_LE(largest_difference(y, matrix({{1, 14}})), kFewUlp);
}

// x^ = (1/2, 1), 1/root = 1/2, dy = (1, 1): q = (2, 4), mean(q x^) = 5/2,
// dx = (2 - 5/4, 4 - 5/2) / 2.
TEST(RmsNorm, BackwardProjectsOutTheScaleAlone) {
  const Matrix weight = matrix({{2, 4}});
  const NormTrace trace = {matrix({{0.5, 1}}), Column::Constant(1, 0.5)};
  const Matrix dy = matrix({{1, 1}});
  Rounding exact = Rounding::exact();
  std::vector<GradientSum> sums = vector_sums(2);
  Matrix dx;

  norm_backward(dy, {weight, nullptr, 0, Norm::rmsnorm}, trace, exact, dx);
  add_norm_gradient(dy, trace, {0, std::nullopt}, sums);

  EXPECT_EQ(dx, matrix({{0.375, 0.75}}));
  EXPECT_EQ(sums[0].value, matrix({{0.5, 1}}));
}

/// Two heads of width 4 at positions 2 and 3 of a base of 4: angles p and p/2.
Rope two_positions() {
  ModelSpec model;
  model.sequence = 2;
  model.head_dim = 4;
  model.rope_base = 4;
  model.position_offset = 2;
  return Rope(model);
}

TEST(Rope, TurnsPairsByTheirPositionFromTheOffsetOn) {
  Matrix values = matrix({{1, 0, 0, 2, 0, 1, 1, 0}, {1, 0, 0, 2, 0, 1, 1, 0}});
  Rounding exact = Rounding::exact();

  two_positions().turn(exact, values);

  const auto turned = [](double t) {
    const double half = t / 2;
    return matrix({{std::cos(t), std::sin(t), -2 * std::sin(half), 2 * std::cos(half), -std::sin(t),
                    std::cos(t), std::cos(half), std::sin(half)}});
  };
  EXPECT_LE(largest_difference(values.row(0), turned(2)), kFewUlp);
  EXPECT_LE(largest_difference(values.row(1), turned(3)), kFewUlp);
}

TEST(Rope, TurningBackUndoesIt) {
  const Matrix before = matrix({{1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1}});
  Matrix values = before;
  Rounding exact = Rounding::exact();
  const Rope rope = two_positions();
  rope.turn(exact, values);
  rope.turn_back(exact, values);
  EXPECT_LE(largest_difference(values, before), kFewUlp);
}

// Heads (3, 4) and (0, 2), weight (1, 10): roots sqrt(12.5) and sqrt(2).
TEST(QueryKey, EachHeadIsNormedByItself) {
  const Matrix weight = matrix({{1, 10}});
  const NormWeights weights = {weight, nullptr, 0, Norm::rmsnorm};
  const ScorePath path = {nullptr, HeadNorm{weights, {0, std::nullopt}}};
  Rounding exact = Rounding::exact();
  NormTrace trace;
  Matrix y;

  enter_scores(path, matrix({{3, 4, 0, 2}}), exact, trace, y);

  const double first = std::sqrt(12.5);
  EXPECT_LE(largest_difference(y, matrix({{3 / first, 40 / first, 0, 10 * std::sqrt(2.0)}})),
            kFewUlp);
}

TEST(QueryKey, WithNeitherNormNorRopeNothingChanges) {
  const Matrix x = matrix({{3, 4, 0, 2}});
  Rounding exact = Rounding::exact();
  NormTrace trace;
  Matrix y;
  enter_scores({}, x, exact, trace, y);
  EXPECT_EQ(y, x);
}

// gate ln 3: sigma = 3/4; up 8: y = 6 ln 3. Backward, dy = 1: dup = 3/4 ln 3,
// dgate = 8 * 3/4 (1 + ln 3 / 4).
TEST(Swiglu, IsTheGateTimesItsSigmoidTimesUp) {
  const double g = std::log(3.0);
  const Matrix gate = matrix({{g, 0}});
  const Matrix up = matrix({{8, 5}});
  Rounding exact = Rounding::exact();
  SwigluTrace trace;
  Matrix y;
  Matrix dgate;
  Matrix dup;

  swiglu({gate, up}, exact, trace, y);
  swiglu_backward({gate, up}, trace, matrix({{1, 2}}), exact, {dgate, dup});

  EXPECT_LE(largest_difference(y, matrix({{6 * g, 0}})), kFewUlp);
  EXPECT_LE(largest_difference(dup, matrix({{0.75 * g, 0}})), kFewUlp);
  EXPECT_LE(largest_difference(dgate, matrix({{6 + 1.5 * g, 5}})), kFewUlp);
}

/// Two tokens with everything zero.
BlockTensors two_tokens(const AttentionShape& shape) {
  BlockTensors t;
  t.q = t.context = Matrix::Zero(2, shape.heads * shape.head_dim);
  t.k = t.v = Matrix::Zero(2, shape.kv_heads * shape.head_dim);
  t.scores = t.probs = t.dropped = Matrix::Zero(2 * shape.heads, 2);
  return t;
}

// Four query heads of width 1 over two key heads: heads 0, 1 read key head 0, heads 2, 3 key head
// 1. Query 1 of head 1 sees z = (0, ln 3), the others equal scores.
TEST(Attention, QueryHeadsReadTheKeyHeadOfTheirGroup) {
  const AttentionShape shape = {4, 2, 1};
  BlockTensors t = two_tokens(shape);
  BlockTensors d = two_tokens(shape);
  t.q(1, 1) = 1;
  t.k(1, 0) = std::log(3.0);
  t.v = matrix({{4, 100}, {8, 200}});
  d.context = matrix({{0, 0, 0, 0}, {1, 2, 0, 4}});
  Rounding exact = Rounding::exact();

  attention({shape, kNoMask}, exact, t);
  attention_backward({shape, kNoMask}, exact, t, d);

  EXPECT_LE(largest_difference(t.context, matrix({{4, 4, 100, 100}, {6, 7, 150, 150}})),
            20 * kFewUlp);
  // dv of key head 0: 1/2 * 1 + (1/4, 3/4) * 2; of key head 1: 1/2 * 4.
  EXPECT_LE(largest_difference(d.v, matrix({{1, 2}, {2, 2}})), kFewUlp);
  // Head 1: dP = (8, 16), D = 14, dz = (-3/2, 3/2), so dk = dz q of that head alone.
  EXPECT_LE(largest_difference(d.k, matrix({{-1.5, 0}, {1.5, 0}})), kFewUlp);
}

// A sink of ln 2 beside scores (0, ln 3): shares 1/6, 3/6 and 2/6 of query 1, 1/3 and 2/3 of query
// 0. Backward, do = (3, 2): query 0: dP = 12, D = 4; query 1: dP = (8, 16), D = 28/3.
TEST(Attention, ASinkTakesItsShareOfTheDenominator) {
  const AttentionShape shape = {1, 1, 1};
  BlockTensors t = two_tokens(shape);
  BlockTensors d = two_tokens(shape);
  t.q << 1, 1;
  t.k << 0, std::log(3.0);
  t.v << 4, 8;
  d.context << 3, 2;
  const Matrix sink = matrix({{std::numbers::ln2}});
  Rounding exact = Rounding::exact();

  attention({shape, kNoMask, &sink}, exact, t);
  attention_backward({shape, kNoMask, &sink}, exact, t, d);

  EXPECT_LE(largest_difference(t.probs, matrix({{1.0 / 3, 0}, {1.0 / 6, 0.5}})), kFewUlp);
  EXPECT_LE(largest_difference(t.sink, matrix({{2.0 / 3}, {1.0 / 3}})), kFewUlp);
  EXPECT_LE(largest_difference(t.context, matrix({{4.0 / 3}, {14.0 / 3}})), kFewUlp);
  EXPECT_LE(largest_difference(d.scores, matrix({{8.0 / 3, 0}, {-2.0 / 9, 10.0 / 3}})), kFewUlp);
  EXPECT_LE(largest_difference(d.sink, matrix({{-8.0 / 3}, {-28.0 / 9}})), kFewUlp);
}

TEST(Attention, ASinkFarAboveTheScoresLeavesNothingAndNoNan) {
  const Matrix sink = matrix({{2000}});
  Rounding exact = Rounding::exact();
  Matrix probs(1, 1);
  Column share;
  causal_softmax(matrix({{0}}), &sink, exact, probs, share);
  EXPECT_EQ(probs(0, 0), 0);
  EXPECT_EQ(share[0], 1);
}

// Two query heads of one key head, two tokens: key 0 meets 4 queries, pairs 1, 1, 1, 3 (squares
// 12), values 2, 1, 5, 0 (squares 30); Q = 12 * 30 / 4.
TEST(AttentionNoise, ASumOverQueriesCountsAllHeadsOfTheGroup) {
  const Matrix pairs = matrix({{1, 0}, {1, 0}, {1, 0}, {3, 0}});
  Matrix sums = matrix({{8}, {0}});
  const double u = 0x1p-24;
  Rounding rounding = Rounding::noisy(kFp32Lane, {});

  add_query_sum_noise({2, 1, 1}, pairs, matrix({{2, 5}, {1, 0}}), rounding, sums);

  const double expected = u * std::sqrt(((1 + 4.0 / 6) * 90 + 4.0 / 3 * 64) / 3);
  EXPECT_NEAR(std::abs(sums(0, 0) - 8) / expected, 1, 0x1p-24);
  EXPECT_EQ(sums(1, 0), 0);
}

}  // namespace
}  // namespace meshparity::reference
