// Quantiles for the limits: how large a ratio of root mean squares chance alone makes.
#pragma once
#include <cstdint>
#include <optional>

namespace meshparity {

/// Square root of the upper quantile of F(nu1, nu2) at normal deviate z, by Paulson's
/// approximation (bounds.md §3.2). Nothing when nu2 is too small for z, or an argument is no
/// positive number.
std::optional<double> lambda(double nu1, double nu2, double z);

/// Normal deviate when the largest of `blocks` ratios is taken: sqrt(36 + 2 ln blocks).
double deviate_for(std::int64_t blocks);

}  // namespace meshparity
