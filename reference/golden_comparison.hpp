// For golden_test: how far two right evaluations of a case may lie apart, and the comparison.
#pragma once
#include "reference/golden_case.hpp"

namespace meshparity {

/// Forward and backward records that the golden file has, losses, norm, gradients of every step.
void expect_equal_network(const GoldenCase& both);
/// Parameters and moments after the last step.
void expect_equal_update(const GoldenCase& both);
/// A file made with --all-records has each forward, backward and loss record, and no other.
void expect_all_records(const GoldenCase& both);

}  // namespace meshparity
