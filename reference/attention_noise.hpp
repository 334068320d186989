// The rounding errors of attention's sums (class a of bounds.md §3.1): which numbers a sum has, and
// their squared norms. Nothing here in an exact run.
#pragma once
#include "reference/attention.hpp"

namespace meshparity::reference {

/// Terms of each row's sum: the keys that its query sees.
Column visible_counts(const Matrix& pairs);

/// pairs_ij = left_i . right_j over a head's width.
void add_pair_noise(const AttentionShape& shape, const Matrix& left, const Matrix& right,
                    Rounding& rounding, Matrix& pairs);
/// sums_i = sum over keys j <= i of pairs_ij values_j.
void add_key_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                       Rounding& rounding, Matrix& sums);
/// sums_j = sum over queries i >= j, in all query heads of a key head, of pairs_ij values_i.
void add_query_sum_noise(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                         Rounding& rounding, Matrix& sums);

}  // namespace meshparity::reference
