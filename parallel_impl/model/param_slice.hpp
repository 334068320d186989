// Which slice of a parameter a rank of tp holds, and to which piece of the model it belongs.
#pragma once
#include "fixtures/dump.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"

namespace meshparity {

/// What a rank applies a parameter to that every rank of tp holds whole; its gradient is Part over
/// tp where that is other work on each rank.
enum class WholeUse {
  same_work,    // positions, or not whole at all
  stream_rows,  // norms, biases of row-parallel linears: rows that sequence parallelism cuts
  local_heads,  // norms of query and key heads
};

/// A rank's slice of a parameter: rows x columns in memory (a vector is one row), of which the
/// first `logical` elements exist in the model and make `box`; the rest is vocabulary padding.
struct ParamSlice {
  int shard_dim = -1;  // of the global shape; -1: replicated over tp
  int rows = 1;
  int columns = 0;
  Box box;
  int logical = 0;
  WholeUse use = WholeUse::same_work;
  // With fewer key heads than ranks, tp / kv_heads ranks in a row hold the same slice of a key or
  // value weight, each from its own query heads a share of the gradient (algorithms.md §1.4, A).
  int copies = 1;
  int copy = 0;  // which of them this is
};

/// Column-parallel linears are cut by outputs, row-parallel ones by inputs (their bias is whole),
/// the vocabulary by rows, sinks by heads; norms and positions are whole on every rank.
ParamSlice slice_of(const ParamSpec& param, const ModelSpec& model, int tp, int tp_index);

/// The piece of the model that a parameter belongs to: 0 the embedding, 1 + layer a block,
/// layers + 1 the head with the final norm.
int piece_of(const ParamSpec& param, const ModelSpec& model);

}  // namespace meshparity
