// The two values of a finding and the distance between them.
#pragma once
#include "matrix/verdict.hpp"

namespace meshparity {

inline constexpr int kDoubleMantissa = 52;

/// Spacing of numbers with so many mantissa bits at |value|; the smallest subnormal at 0.
double ulp_at(double value, int mantissa_bits);
/// Sets reference, candidate, error_ulp (of the reference) and error_relative.
void add_values(Finding& finding, double reference, double candidate, int mantissa_bits);

}  // namespace meshparity
