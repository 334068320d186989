#include "matrix/checks/value_place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace meshparity {

double ulp_at(double value, int mantissa_bits) {
  if (!std::isfinite(value)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double smallest = std::numeric_limits<double>::denorm_min();
  return value == 0 ? smallest
                    : std::max(smallest, std::ldexp(1.0, std::ilogb(value) - mantissa_bits));
}

void add_values(Finding& finding, double reference, double candidate, int mantissa_bits) {
  const double error = std::abs(candidate - reference);
  finding.has_values = true;
  finding.reference = reference;
  finding.candidate = candidate;
  finding.error_ulp = error / ulp_at(reference, mantissa_bits);
  finding.error_relative = error / std::abs(reference);
}

}  // namespace meshparity
