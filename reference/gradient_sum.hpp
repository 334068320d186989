// The gradient of one parameter, summed over the tokens of a step, with what the noise of that sum
// needs when the sum is finished: how many terms, and their squares.
#pragma once
#include <optional>
#include <vector>

#include "reference/rounding.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// How the terms of a parameter's gradient arise.
enum class GradientKind {
  product,   // left^T right: the terms' squares are known by |left_i|^2 |right_j|^2 / K
  per_term,  // rows added one by one: the squares are summed element by element
};

class GradientSum {
 public:
  /// `noisy`: keep the squares too. `in_float`: add in float32, in that order.
  GradientSum(Eigen::Index rows, Eigen::Index columns, GradientKind kind, bool noisy,
              std::optional<SumOrder> in_float = {});

  void set_zero();
  /// value += left^T right, one term a token.
  void add_product(const Matrix& left, const Matrix& right);
  /// value += sum of the rows of `terms`; the parameter is a vector.
  void add_rows(const Matrix& terms);
  /// value += terms; each element is one term.
  void add_elements(const Matrix& terms);
  /// Row rows[i] of value += row i of terms, in ascending i.
  void scatter(const std::vector<int>& rows, const Matrix& terms);
  /// The sum over other samples of the same run, times `share`.
  void add(const GradientSum& other, double share = 1);

  /// From now on the squares of what each sample adds are kept, for Rounding::payload.
  void watch_samples();
  /// What was added since the last call is one sample's.
  void end_sample();

  /// Injects the error of the whole sum in a noisy run.
  void finish(Rounding& rounding);

  Matrix value;

 private:
  void add_value(const Matrix& terms);

  GradientKind kind_;
  bool noisy_;
  std::optional<SumOrder> in_float_;
  Column terms_;         // of each row
  Column left_squares_;  // product
  Row right_squares_;
  Matrix squares_;  // per_term
  bool watches_ = false;
  Matrix before_;  // the value after the sample before
  Matrix sample_squares_;
};

}  // namespace meshparity::reference
