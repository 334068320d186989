// A rank's parameters: which slice of each it holds, their values, and their gradients of a step.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "fixtures/dump.hpp"
#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"
#include "parallel_impl/backend/buffer.hpp"
#include "parallel_impl/mesh/mesh.hpp"

namespace meshparity {

/// A rank's slice of a parameter: rows x columns in memory (a vector is one row), of which the
/// first `logical` elements exist in the model and make `box`; the rest is vocabulary padding.
struct ParamSlice {
  int shard_dim = -1;  // of the global shape; -1: replicated over tp
  int rows = 1;
  int columns = 0;
  Box box;
  int logical = 0;
};

/// Column-parallel linears are cut by outputs, row-parallel ones by inputs (their bias is whole),
/// the vocabulary by rows; norms and positions are whole on every rank.
ParamSlice slice_of(const ParamSpec& param, const ModelSpec& model, int tp, int tp_index);

/// One parameter on this rank. A tied head's value is the embedding's; its gradient is its own.
template <class T>
struct Param {
  ParamSpec spec;
  ParamSlice slice;
  T* value = nullptr;
  Buffer<T> owned;  // empty when tied
  Buffer<T> grad;   // sum over this step's micro-batches

  int count() const { return slice.rows * slice.columns; }
  bool is_tied() const { return !spec.tied_to.empty(); }
};

/// Every parameter of the table, at its initial value.
template <class T>
class Parameters {
 public:
  Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed, Memory& memory);

  std::vector<Param<T>>& all() { return params_; }
  /// The parameter must exist.
  Param<T>& at(std::string_view name);
  void clear_gradients();
  /// The largest count of all.
  int largest() const;

 private:
  std::vector<Param<T>> params_;
};

}  // namespace meshparity
