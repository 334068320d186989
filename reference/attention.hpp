// Causal softmax attention, head by head: z_ij = q_i.k_j / sqrt(d) for keys j <= i, P = softmax of
// each row, o_i = sum_j drop(P)_ij v_j (algorithms.md §0.6). Query head a reads key head
// floor(a * kv_heads / heads). A sink is one logit s a query head, in the denominator alone.
#pragma once
#include "reference/dropout.hpp"
#include "reference/rounding.hpp"
#include "reference/sample_tensors.hpp"

namespace meshparity::reference {

struct AttentionShape {
  int heads = 1;
  int kv_heads = 1;
  int head_dim = 1;

  int group() const { return heads / kv_heads; }  // query heads of a key head
};

struct AttentionInputs {
  AttentionShape shape;
  const DropoutMask& mask;       // [heads*S, S]
  const Matrix* sink = nullptr;  // [1, heads]; nullptr: none
};

/// From t.q, t.k, t.v: t.scores, t.probs, t.sink, t.dropped, t.context.
void attention(const AttentionInputs& inputs, Rounding& rounding, BlockTensors& t);

/// From d.context: d.dropped, d.probs, d.scores, d.sink, d.q, d.k, d.v. Where the key comes after
/// the query all gradients are 0. With D_i = sum_j P_ij dP_ij:
///   dz_ij = P_ij (dP_ij - D_i), dq_i = sum_j dz_ij k_j / sqrt(d), dk_j = sum_i dz_ij q_i / sqrt(d)
/// d.sink holds what each query adds to the gradient of its head's s: -P_sink D_i.
void attention_backward(const AttentionInputs& inputs, Rounding& rounding, const BlockTensors& t,
                        BlockTensors& d);
/// [a*S] as [S, a]: one row a token, which gradients are summed over.
Matrix one_column_a_head(const Column& values, int heads);

/// Softmax of the first i+1 elements of each row, i = row mod columns; the others become 0.
/// `sink`: as in AttentionInputs; its share goes to `sink_share`.
void causal_softmax(const Matrix& scores, const Matrix* sink, Rounding& rounding, Matrix& probs,
                    Column& sink_share);
/// dz_ij = P_ij (dP_ij - D_i); returns D.
Column causal_softmax_backward(const Matrix& probs, const Matrix& dprobs, Rounding& rounding,
                               Matrix& dscores);

}  // namespace meshparity::reference
