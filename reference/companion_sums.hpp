// The summary of K noisy runs of one record, accumulated part by part (bounds.md §3.2): no noisy
// run is kept.
#pragma once
#include <span>
#include <vector>

#include "fixtures/companions.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// Sums over the elements of a record seen so far; parts may be summed apart and added.
class CompanionSums {
 public:
  explicit CompanionSums(int replicas);

  void set_zero();
  /// Row k of `deviations` [K, n] is replica k's part minus `exact` [n].
  void add(const Matrix& deviations, std::span<const double> exact);
  void add(const CompanionSums& other);

  /// n_eff = (mean_k |D_k|^2)^2 / mean_{k != l} <D_k, D_l>^2 between 1 and n; g_k = <D_k, ref> /
  /// |ref|^2. Of a record without any deviation: all zero, n_eff 1.
  Companion finish(const RecordSpec& record, int step, std::vector<float> mean_squares) const;

 private:
  double effective(double elements) const;

  Matrix products_;     // [K, K] <D_k, D_l>
  Column projections_;  // [K] <D_k, ref>
  double exact_squares_ = 0;
};

/// s2 of a part: mean over k of D_k^2, element by element. A value too small for float32 becomes
/// its smallest number, so that only exact zeros say "no deviation at all".
void mean_squares(const Matrix& deviations, std::span<float> s2);

}  // namespace meshparity::reference
