// The three products of attention, head by head, with their rounding errors: pairs of queries and
// keys [a*S, S], features of tokens [S, a*d] or, of keys and values, [S, g*d].
#pragma once
#include "reference/attention.hpp"

namespace meshparity::reference {

/// pairs_ij = left_i . right_j; left of the query heads, right of the key heads.
void pair_products(const AttentionShape& shape, const Matrix& left, const Matrix& right,
                   Rounding& rounding, Matrix& pairs);
/// sums_i = sum_j pairs_ij values_j; values of the key heads.
void sum_over_keys(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                   Rounding& rounding, Matrix& sums);
/// sums_j = sum_i pairs_ij values_i over all query heads that read the key head.
void sum_over_queries(const AttentionShape& shape, const Matrix& pairs, const Matrix& values,
                      Rounding& rounding, Matrix& sums);

}  // namespace meshparity::reference
