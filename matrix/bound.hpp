// The limits of one record, in units of its sigma, and how they came about: companions in, limits
// with their derivation out (bounds.md §3.2). Nothing here depends on the code under test.
#pragma once
#include <string>

#include "fixtures/case_spec.hpp"
#include "fixtures/companions.hpp"

namespace meshparity {

/// S: room for roundings that the noise model does not have (bounds.md §3.3).
inline constexpr double kFreedom = 2;
/// Shrinkage: a prior worth so many samples.
inline constexpr double kPriorSamples = 4;

/// How the sigma of a precision is made from a companions file.
struct Lane {
  std::string name;             // "fp64"
  std::string companions;       // the set it is made from: "fp32"
  double factor = 1;            // sigma = factor * sqrt(s2)
  double projection_guard = 0;  // G only where |ref| exceeds this many sigma sqrt(n)
  int mantissa_bits = 52;       // of the type in which errors are counted as ULP
  std::string origin;           // "fp32 companions x 2^-29 sqrt 2"
};
Lane lane_of(Precision precision);

/// A limit for one statistic: kFreedom * lambda(nu1, nu2, z).
struct Limit {
  double value = 0;  // in sigma; NaN when there are too few samples
  double lambda = 0;
  double nu1 = 0;
  double nu2 = 0;
  std::int64_t blocks = 1;  // how many the largest is taken of
  double z = 0;
};
/// "S 2 x Lambda 4.85 (nu 3.3/110, 64 blocks, z 6.7)"
std::string derivation(const Limit& limit);

/// A single number has only `whole`; a vector (one row or one column) has no rows and columns.
struct Limits {
  Limit whole;
  Limit row;
  Limit column;  // blocks of column_block columns
  Limit element;
  Limit projection;
};
Limits limits_for(const Companion& companion, std::int64_t column_block);

bool is_single(const Companion& companion);
bool is_matrix(const Companion& companion);

}  // namespace meshparity
