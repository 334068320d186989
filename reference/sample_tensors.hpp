// Every tensor of one sample, forward values or their gradients: a gradient has the name and shape
// of its value.
#pragma once
#include <string_view>
#include <vector>

#include "fixtures/model_spec.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// One block: U = in + drop(attn_out), out = U + drop(mlp_out). S tokens, h hidden, a heads of
/// width d, g key heads, f wide MLP. Rows of the attention matrices: head * S + query.
struct BlockTensors {
  Matrix in;        // [S, h]
  Matrix norm1;     // [S, h]
  Matrix q_proj;    // [S, a*d], bias added
  Matrix k_proj;    // [S, g*d]
  Matrix q, k;      // as they enter the scores: after norms of heads and rope
  Matrix v;         // [S, g*d]
  Matrix scores;    // [a*S, S] scaled; no record
  Matrix probs;     // [a*S, S] after softmax; 0 where the key comes after the query
  Matrix dropped;   // [a*S, S] probs after dropout; no record
  Column sink;      // [a*S] the sink's share of each softmax; no record, no elements without one
  Matrix context;   // [S, a*d]
  Matrix attn_out;  // [S, h] output projection with bias, before dropout
  Matrix residual;  // [S, h] U
  Matrix norm2;     // [S, h]
  Matrix gate;      // [S, f] with bias; swiglu only
  Matrix up;        // [S, f] with bias
  Matrix act;       // [S, f]
  Matrix mlp_out;   // [S, h] down projection with bias, before dropout
  Matrix out;       // [S, h]
};

struct SampleTensors {
  Matrix embed_token;  // [S, h]
  Matrix embed_sum;    // [S, h] token + position, before dropout
  std::vector<BlockTensors> blocks;
  Matrix final_norm;  // [S, h]
  Matrix logits;      // [S, V]
  Matrix loss_token;  // [1, S] w_i loss_i; of gradients: unused

  explicit SampleTensors(const ModelSpec& model);
};

/// The tensor of a record by its name in the record table ("layer1.attn.q", "loss.token"); throws
/// Error when there is none.
const Matrix& named_tensor(const SampleTensors& tensors, std::string_view record);

}  // namespace meshparity::reference
