#include "parallel_impl/model/parameters.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace meshparity {
namespace {

constexpr std::array<std::string_view, 5> kColumnParallel = {"attn.q.", "attn.k.", "attn.v.",
                                                             "mlp.gate.", "mlp.up."};
constexpr std::array<std::string_view, 2> kRowParallel = {"attn.out.", "mlp.down."};

bool is_vocabulary(std::string_view name) {
  return name == "embed.weight" || name == "head.weight";
}

int shard_dim_of(std::string_view name) {
  const auto belongs = [&](std::string_view part) { return name.find(part) != name.npos; };
  const bool is_bias = name.ends_with(".bias");
  if (std::any_of(kColumnParallel.begin(), kColumnParallel.end(), belongs)) {
    return is_bias ? 0 : 1;
  }
  if (std::any_of(kRowParallel.begin(), kRowParallel.end(), belongs)) {
    return is_bias ? -1 : 0;
  }
  return is_vocabulary(name) ? 0 : -1;
}

/// Local extent in memory along every dim: the padded global extent over tp along the cut one.
std::vector<std::int64_t> local_extents(const ParamSpec& param, const ModelSpec& model,
                                        int shard_dim, int tp) {
  std::vector<std::int64_t> extents = param.shape;
  if (is_vocabulary(param.name)) {
    extents[0] = model.padded_vocabulary;
  }
  if (shard_dim >= 0) {
    std::int64_t& cut = extents[static_cast<std::size_t>(shard_dim)];
    assert(cut % tp == 0);
    cut /= tp;
  }
  return extents;
}

/// Values of the slice, row by row where it is cut by columns.
void initial_slice(const std::vector<ParamSpec>& table, std::size_t index, const ParamSlice& slice,
                   std::uint64_t seed, std::span<double> out) {
  const ParamSpec& param = table[index];
  const bool is_matrix = param.shape.size() == 2;
  const std::int64_t global_columns = param.shape.back();
  const std::int64_t rows = is_matrix ? slice.box.extent[0] : 1;
  const std::int64_t columns = slice.box.extent.back();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t global_row = is_matrix ? slice.box.start[0] + row : 0;
    const std::int64_t first = global_row * global_columns + slice.box.start.back();
    initial_values(
        table, index, seed, first,
        out.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns)));
  }
}

template <class T>
void upload_initial(const std::vector<ParamSpec>& table, std::size_t index, std::uint64_t seed,
                    Param<T>& param) {
  std::vector<double> values(static_cast<std::size_t>(param.slice.logical));
  initial_slice(table, index, param.slice, seed, values);
  std::vector<T> narrowed(values.size());
  std::transform(values.begin(), values.end(), narrowed.begin(),
                 [](double value) { return static_cast<T>(value); });
  param.owned.upload(narrowed);
}

}  // namespace

ParamSlice slice_of(const ParamSpec& param, const ModelSpec& model, int tp, int tp_index) {
  ParamSlice slice;
  slice.shard_dim = shard_dim_of(param.name);
  const std::vector<std::int64_t> extents = local_extents(param, model, slice.shard_dim, tp);
  slice.rows = extents.size() == 2 ? static_cast<int>(extents[0]) : 1;
  slice.columns = static_cast<int>(extents.back());
  slice.box = {std::vector<std::int64_t>(extents.size(), 0), extents};
  if (slice.shard_dim >= 0) {
    const auto dim = static_cast<std::size_t>(slice.shard_dim);
    slice.box.start[dim] = std::min(tp_index * extents[dim], param.shape[dim]);
    slice.box.extent[dim] = std::min(extents[dim], param.shape[dim] - slice.box.start[dim]);
  } else {
    slice.box.extent = param.shape;
  }
  slice.logical = static_cast<int>(element_count(slice.box));
  return slice;
}

template <class T>
Parameters<T>::Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed,
                          Memory& memory) {
  const std::vector<ParamSpec> table = param_table(model);
  for (std::size_t index = 0; index < table.size(); ++index) {
    Param<T> param;
    param.spec = table[index];
    param.slice = slice_of(table[index], model, mesh.degree(Axis::tp), mesh.index(Axis::tp));
    param.grad = Buffer<T>(memory, MemoryTag::gradient, param.count());
    if (param.is_tied()) {
      param.value = at(param.spec.tied_to).value;
    } else {
      param.owned = Buffer<T>(memory, MemoryTag::parameter, param.count());
      param.value = param.owned.data();
      upload_initial(table, index, seed, param);
    }
    params_.push_back(std::move(param));
  }
}

template <class T>
Param<T>& Parameters<T>::at(std::string_view name) {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [&](const Param<T>& param) { return param.spec.name == name; });
  assert(found != params_.end());
  return *found;
}

template <class T>
void Parameters<T>::clear_gradients() {
  for (Param<T>& param : params_) {
    param.grad.clear();
  }
}

template <class T>
int Parameters<T>::largest() const {
  int largest = 0;
  for (const Param<T>& param : params_) {
    largest = std::max(largest, param.count());
  }
  return largest;
}

template class Parameters<double>;
template class Parameters<float>;

}  // namespace meshparity
