// Laws of single operations: an output from the inputs that the candidate dumped, with the worst
// case of the operation's own roundings, first order in u (algorithms.md §11.5).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "reference/laws/law.hpp"
#include "reference/rounding.hpp"

namespace meshparity::reference {

/// What an operation errs by: each of its own roundings u, each factor of a product `operand`, and
/// its result `stored` where it is kept in a short type.
struct OperationType {
  Wide u = 0;
  Wide operand = 0;
  Wide stored = 0;
  Wide smallest = 0;  // subnormal

  OperationType(Precision precision, bool is_stored);
};

/// y = sum of K products, plus a bias: K u sum|x w| in any order and split, 2 operand sum|x w|; the
/// bias u (|y| + |b|).
struct LinearLaw {
  OperationType type;

  /// `w` is read at every `stride`-th place.
  Demand element(std::span<const double> x, const double* w, std::size_t stride,
                 const double* bias) const;
  static std::string derivation() {
    return "y = x W + b from the candidate's own x, W, b; (K u + 2 u_operand) sum|x w| + u (|y| + "
           "|b|) + u_stored |y|, x 1.01";
  }
};

/// One row of y = w x^ + b. With c = x - mean: mean errs by n u mean|x|, c by that and u |c|, the
/// variance by 2 mean(|c| e_c) + (n+2) u var, 1/sqrt(var + eps) by half of that relative and 3 u.
struct NormLaw {
  OperationType type;
  double epsilon = 0;
  bool centred = false;  // layernorm
  std::span<const double> weight;
  std::span<const double> bias;  // may be empty

  std::vector<Demand> row(std::span<const double> x) const;
  static std::string derivation() {
    return "y = w (x - mean) / sqrt(var + eps) + b from the candidate's own x, w, b; mean n u "
           "mean|x|, variance 2 mean(|c| e_c) + (n+2) u var, then 5 u, + u_stored |y|, x 1.01";
  }
};

/// Softmax of s_j = scale q.k_j over the keys of `k` (rows of width |q|), and a sink's logit. With
/// e_j = scale (d u + 3 u + 2 u_operand) sum|q k_j| + u |s_j - max| + 2 u, what a share errs by is
/// p_j (e_j + sum_k p_k e_k + (n + 3) u).
struct SoftmaxLaw {
  OperationType type;
  const double* sink = nullptr;

  std::vector<Demand> row(std::span<const double> q, std::span<const double* const> keys) const;
  static std::string derivation() {
    return "softmax(q k / sqrt d) from the candidate's own q, k; p_j (e_j + sum p e + (n+3) u), "
           "e_j = ((d+3) u + 2 u_operand) sum|q k| / sqrt d + u |s - max| + 2 u, x 1.01";
  }
};

}  // namespace meshparity::reference
