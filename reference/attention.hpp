// Causal softmax attention, head by head: z_ij = q_i.k_j / sqrt(d) for keys j <= i, P = softmax of
// each row, o_i = sum_j drop(P)_ij v_j (algorithms.md §0.6).
#pragma once
#include "reference/dropout.hpp"
#include "reference/rounding.hpp"
#include "reference/sample_tensors.hpp"

namespace meshparity::reference {

struct AttentionShape {
  int heads = 1;
  int head_dim = 1;
};

/// From t.q, t.k, t.v: t.scores, t.probs, t.dropped, t.context. `mask` is [heads*S, S].
void attention(const AttentionShape& shape, const DropoutMask& mask, Rounding& rounding,
               BlockTensors& t);

/// From d.context: d.dropped, d.probs, d.scores, d.q, d.k, d.v. Where the key comes after the query
/// all gradients are 0. With D_i = sum_j P_ij dP_ij:
///   dz_ij = P_ij (dP_ij - D_i), dq_i = sum_j dz_ij k_j / sqrt(d), dk_j = sum_i dz_ij q_i / sqrt(d)
void attention_backward(const AttentionShape& shape, const DropoutMask& mask, Rounding& rounding,
                        const BlockTensors& t, BlockTensors& d);

/// Softmax of the first i+1 elements of each row, i = row mod columns; the others become 0.
void causal_softmax(const Matrix& scores, Rounding& rounding, Matrix& probs);
/// dz_ij = P_ij (dP_ij - sum_j P_ij dP_ij)
void causal_softmax_backward(const Matrix& probs, const Matrix& dprobs, Rounding& rounding,
                             Matrix& dscores);

}  // namespace meshparity::reference
