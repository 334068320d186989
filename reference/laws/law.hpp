// A law: a short exact function of what a candidate itself dumped of a step, recomputed with more
// digits than any candidate has, and how far the candidate may be from it in the worst case
// (bounds.md §3.4). A law stands beside the noise: it finds what noise would hide.
#pragma once
#include "fixtures/case_spec.hpp"
#include "fixtures/dump.hpp"

namespace meshparity::reference {

/// More digits than FP64 where the machine has such a type; its own error is left out of limits.
using Wide = long double;

struct Law {
  LawRow row;
  LawValues values;
};

/// The type in which a precision keeps its master parameters and moments and computes its scalars.
struct StepType {
  double u = 0;                    // unit roundoff
  double smallest = 0;             // subnormal
  bool short_constants = false;    // constants such as 1 - beta may be held in that type
  std::string_view roundoff_text;  // "2^-53"
};
StepType step_type(Precision precision);

/// A master as the forward pass of that precision reads it.
double compute_copy_of(double master, Precision precision);

/// One element: what is demanded, and the worst case of the candidate's roundings.
struct Demand {
  Wide value = 0;
  Wide limit = 0;
};
/// Appends a demand, its limit times 1.01 for products of roundings, and one rounding more because
/// the recomputed value is stored in FP64.
void append(const Demand& demand, LawValues& values);
/// Appends a value that has to be met exactly.
void append_exact(double value, LawValues& values);

}  // namespace meshparity::reference
