// What every operation of the reference does after it has computed: nothing (exact), or add the
// rounding errors of a lane as random noise (bounds.md §3.1), or round as a candidate of that lane
// does, which is how tests check the noise. One code, all kinds of run.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "fixtures/case_spec.hpp"
#include "reference/constants.hpp"
#include "reference/float_sums.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// Unit roundoffs of the places where a lane rounds; 0 where it does not (bounds.md §3.1).
///   operand  both factors of every product, fresh for each use
///   storage  exactly: residual stream, outputs of norms, queries and keys as they enter the
///   scores,
///            values, attention's context, MLP hidden (act), logits; the gradients of all of these;
///            softmax weights before they meet the values; gradients of scores
///   weight   every parameter, once a step, the same in forward and backward
///   payload  gradients as they travel to be summed over replicas
struct Lane {
  std::string_view name;    // of its companions too: companions_<name>.h5
  double elementwise = 0;   // u_e
  double accumulation = 0;  // u_a
  double operand = 0;       // u_m: inputs of a product
  double storage = 0;       // u_s: tensors kept between operations
  double weight = 0;        // u_w: compute copies of weights
  double payload = 0;       // u_p

  /// Nothing is rounded before the sums over a step's samples are complete.
  bool is_quiet() const {
    return elementwise == 0 && accumulation == 0 && operand == 0 && storage == 0 && weight == 0;
  }
};
inline constexpr Lane kFp32Lane{"fp32", 0x1p-24, 0x1p-24, 0, 0, 0};
inline constexpr Lane kTf32Lane{"tf32", 0x1p-24, 0x1p-24, 0x1p-11, 0, 0};
inline constexpr Lane kBf16Lane{"bf16", 0x1p-24, 0x1p-24, 0, 0x1p-8, 0x1p-8};
/// What gradcomm_bf16 adds to any lane, as a set of its own: classes of noise add in quadrature
/// (bounds.md §3.1).
inline constexpr Lane kGradcommLane{"gradcomm_bf16", 0, 0, 0, 0, 0, 0x1p-8};
/// The lane whose companions serve a precision; FP64 is the FP32 set scaled.
const Lane& lane_of(Precision precision);

/// Which noise: two streams that differ anywhere are independent.
struct NoiseStream {
  int replica = 0;
  int step = 0;
  int sample = 0;  // kWholeStep: sums over all samples, and the optimizer; kWeights: below
};
inline constexpr int kWholeStep = -1;
inline constexpr int kWeights = -2;  // compute copies of weights, and weights as operands

/// xi is +1 or -1, a function of (lane, stream, operation, element), where operation counts the
/// calls: bits do not depend on threads. Zero stays zero in every call.
class Rounding {
 public:
  static Rounding exact() { return {}; }
  static Rounding noisy(const Lane& lane, NoiseStream stream);
  /// As a candidate does: to the nearest number of the lane's types, once where the noise counts
  /// several operations in a row; sums and products in float.
  static Rounding nearest(const Lane& lane, SumOrder order = {});

  bool is_exact() const { return kind_ == Kind::exact; }
  bool is_noisy() const { return kind_ == Kind::noisy; }
  bool in_float() const { return kind_ == Kind::nearest; }
  SumOrder sum_order() const { return order_; }

  /// y (1 + u_e sqrt(operations) xi / sqrt 3): that many roundings in a row, relative to y.
  void elementwise(std::span<double> y, int operations = 1);
  double elementwise(double y, int operations = 1);
  template <class Dense>
  void elementwise(Eigen::PlainObjectBase<Dense>& y, int operations = 1) {
    elementwise(std::span(y.data(), static_cast<std::size_t>(y.size())), operations);
  }

  /// A number of the formulas as this run holds it; `element` tells those of one name apart.
  double constant(Constant name, double value, std::uint64_t element = 0) const;
  /// A count n to divide by: exact, but as rounded as 1/n where 1/n is.
  double divisor(Constant name, double count) const;

  /// A tensor that is kept in a short type between operations: y (1 + u_s xi / sqrt 3).
  void stored(Matrix& y);
  /// The input of a product: x itself, or in `copy` x (1 + u_m xi / sqrt 3) where the lane rounds
  /// operands.
  const Matrix& operand(const Matrix& x, Matrix& copy);
  /// A weight's compute copy, and that as an operand.
  void compute_copy(Matrix& w);
  bool rounds_operands() const { return lane_.operand > 0; }
  bool rounds_weights() const { return lane_.weight > 0; }

  /// y = A B, K terms a sum: y + (u_a/sqrt 3) sqrt((1 + K/6) Q + K y^2/3) xi with
  /// Q_ij = |A_i|^2 |B_j|^2 / K from the squared norms of A's rows and B's columns.
  void product(MatrixView y, const Column& left, const Row& right, double terms);
  /// y_ij is a sum over samples, whose own sums have the squares Q_ij, that travels in a short
  /// type: y + (u_p/sqrt 3) sqrt(2 Q + 1.5 y^2) xi, whichever way samples are dealt out to ranks
  /// and micro-batches. Each of G >= 2 contributions c is rounded, u_p^2/3 sum c^2. Partial sums
  /// pinned at y and random otherwise (as in sums) give E sum c^2 = (1 - 1/G) Q + y^2/G, at most Q
  /// + y^2/2. Results are rounded too: one, y^2, or one a micro-batch, whose squares add up to no
  /// more than contributions' do; at most Q + y^2.
  void payload(Matrix& y, const Matrix& squares);
  bool rounds_payload() const { return kind_ == Kind::noisy && lane_.payload > 0; }
  /// y_ij is a sum of terms_i numbers whose squares add up to squares_ij (= Q above).
  void sums(Matrix& y, const Matrix& squares, const Column& terms);
  double sum(double y, double squares, double terms);
  /// sums_i = sum_j terms_ij (formed again where the run is in float), with counts_i terms that are
  /// not known to be zero.
  void row_sums(Column& sums, const Matrix& terms, const Column& counts);
  void row_sums(Column& sums, const Matrix& terms);

 private:
  void apply(std::span<double> y, double u, int operations);
  double constant_error(Constant name, std::uint64_t element) const;
  std::uint64_t signs(std::uint64_t block) const;  // 64 random bits for elements 64 block, ...

  enum class Kind { exact, noisy, nearest };
  Kind kind_ = Kind::exact;
  Lane lane_ = {};
  SumOrder order_ = {};
  double accumulation_ = 0;  // u_a / sqrt 3; 0 unless noisy
  std::uint64_t key_ = 0;
  std::uint64_t constants_key_ = 0;  // of the replica, in all its steps and samples
  std::uint64_t operation_ = 0;
};

}  // namespace meshparity::reference
