// Token and position embedding: x_p = E[token_p] + P[p].
#pragma once
#include <vector>

#include "reference/gradient_sum.hpp"
#include "reference/rounding.hpp"
#include "reference/weights.hpp"

namespace meshparity::reference {

/// token_rows_p = table[tokens_p]
void embed_tokens(const std::vector<int>& tokens, const Matrix& table, Matrix& token_rows);
void add_positions(const Matrix& token_rows, const Matrix& positions, Rounding& rounding,
                   Matrix& sum);

}  // namespace meshparity::reference
