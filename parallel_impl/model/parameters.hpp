// A rank's parameters: which slice of each it holds, their values, and their gradients of a step.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/mesh/mesh.hpp"

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

/// The chunk of the pipeline on this rank that works with a parameter; -1: none of them does.
using ChunkOf = std::function<int(const ParamSpec&)>;
/// Of a rank that holds the whole model: 0 for every parameter.
ChunkOf single_chunk();

/// One parameter on this rank; its value and gradient lie in storage of Parameters.
template <class T>
struct Param {
  ParamSpec spec;
  ParamSlice slice;
  int chunk = 0;
  T* value = nullptr;
  T* grad = nullptr;  // sum over this step's micro-batches
  /// The value is that of spec.tied_to, which this rank holds too; the gradient is its own.
  bool shares_value = false;

  int count() const { return slice.rows * slice.columns; }
  /// Here or on another rank: shares_value tells.
  bool is_tied() const { return !spec.tied_to.empty(); }
};

/// Values of elements [first, first + out.size()) of the parameter at `index` of the table,
/// row-major over its global shape.
using ParamSource = std::function<void(const std::vector<ParamSpec>& table, std::size_t index,
                                       std::int64_t first, std::span<double> out)>;
/// The initial values of a seed.
ParamSource initial_source(std::uint64_t seed);

/// The parameters of the table that this rank's chunks work with, at their initial values.
template <class T>
class Parameters {
 public:
  Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed, Memory& memory);
  /// Cut out of other values.
  Parameters(const ModelSpec& model, const Mesh& mesh, const ParamSource& source, Memory& memory,
             const ChunkOf& chunk_of = single_chunk());

  std::vector<Param<T>>& all() { return params_; }
  /// The parameter must be on this rank.
  Param<T>& at(std::string_view name);
  /// Null when this rank has none of that name.
  Param<T>* find(std::string_view name);
  void clear_gradients();
  /// The largest count of all.
  int largest() const;

 private:
  void make(Param<T>& param, Memory& memory);

  std::vector<Buffer<T>> values_, gradients_;
  std::vector<Param<T>> params_;
};

}  // namespace meshparity
