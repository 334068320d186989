#include "parallel_impl/model/parameters.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

namespace meshparity {
namespace {

constexpr std::array<std::string_view, 2> kKeyAndValue = {"attn.k.", "attn.v."};
constexpr std::array<std::string_view, 5> kColumnParallel = {"attn.q.", "attn.k.", "attn.v.",
                                                             "mlp.gate.", "mlp.up."};
constexpr std::array<std::string_view, 2> kRowParallel = {"attn.out.", "mlp.down."};

bool is_vocabulary(std::string_view name) {
  return name == "embed.weight" || name == "head.weight";
}

bool is_any_of(std::string_view name, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

int shard_dim_of(std::string_view name) {
  const bool is_bias = name.ends_with(".bias");
  if (is_any_of(name, kColumnParallel)) {
    return is_bias ? 0 : 1;
  }
  if (is_any_of(name, kRowParallel)) {
    return is_bias ? -1 : 0;
  }
  return is_vocabulary(name) || name.ends_with("attn.sink") ? 0 : -1;
}

WholeUse whole_use_of(std::string_view name) {
  if (shard_dim_of(name) >= 0 || name == "embed.position") {
    return WholeUse::same_work;
  }
  const bool of_heads = name.ends_with("q_norm.weight") || name.ends_with("k_norm.weight");
  return of_heads ? WholeUse::local_heads : WholeUse::stream_rows;
}

int copies_of(std::string_view name, const ModelSpec& model, int tp) {
  return is_any_of(name, kKeyAndValue) ? std::max(1, tp / model.kv_heads) : 1;
}

/// Local extent in memory along every dim: the padded global extent, cut into `parts` along one.
std::vector<std::int64_t> local_extents(const ParamSpec& param, const ModelSpec& model,
                                        int shard_dim, int parts) {
  std::vector<std::int64_t> extents = param.shape;
  if (is_vocabulary(param.name)) {
    extents[0] = model.padded_vocabulary;
  }
  if (shard_dim >= 0) {
    std::int64_t& cut = extents[static_cast<std::size_t>(shard_dim)];
    assert(cut % parts == 0);
    cut /= parts;
  }
  return extents;
}

/// Values of the slice, row by row where it is cut by columns.
void initial_slice(const std::vector<ParamSpec>& table, std::size_t index, const ParamSlice& slice,
                   const ParamSource& source, std::span<double> out) {
  const ParamSpec& param = table[index];
  const bool is_matrix = param.shape.size() == 2;
  const std::int64_t global_columns = param.shape.back();
  const std::int64_t rows = is_matrix ? slice.box.extent[0] : 1;
  const std::int64_t columns = slice.box.extent.back();
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t global_row = is_matrix ? slice.box.start[0] + row : 0;
    const std::int64_t first = global_row * global_columns + slice.box.start.back();
    source(table, index, first,
           out.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns)));
  }
}

template <class T>
void upload_initial(const std::vector<ParamSpec>& table, std::size_t index,
                    const ParamSource& source, const Param<T>& param, Memory& memory) {
  std::vector<double> values(static_cast<std::size_t>(param.slice.logical));
  initial_slice(table, index, param.slice, source, values);
  std::vector<T> narrowed(values.size());
  std::transform(values.begin(), values.end(), narrowed.begin(),
                 [](double value) { return static_cast<T>(value); });
  memory.upload(narrowed.data(), param.value, narrowed.size() * sizeof(T));
}

}  // namespace

ParamSlice slice_of(const ParamSpec& param, const ModelSpec& model, int tp, int tp_index) {
  ParamSlice slice;
  slice.shard_dim = shard_dim_of(param.name);
  slice.use = whole_use_of(param.name);
  slice.copies = copies_of(param.name, model, tp);
  slice.copy = tp_index % slice.copies;
  const std::vector<std::int64_t> extents =
      local_extents(param, model, slice.shard_dim, tp / slice.copies);
  slice.rows = extents.size() == 2 ? static_cast<int>(extents[0]) : 1;
  slice.columns = static_cast<int>(extents.back());
  slice.box = {std::vector<std::int64_t>(extents.size(), 0), extents};
  if (slice.shard_dim >= 0) {
    const auto dim = static_cast<std::size_t>(slice.shard_dim);
    slice.box.start[dim] = std::min(tp_index / slice.copies * extents[dim], param.shape[dim]);
    slice.box.extent[dim] = std::min(extents[dim], param.shape[dim] - slice.box.start[dim]);
  } else {
    slice.box.extent = param.shape;
  }
  slice.logical = static_cast<int>(element_count(slice.box));
  return slice;
}

int piece_of(const ParamSpec& param, const ModelSpec& model) {
  if (param.layer >= 0) {
    return param.layer + 1;
  }
  return param.name.starts_with("embed.") ? 0 : model.layers + 1;
}

ChunkOf single_chunk() {
  return [](const ParamSpec&) { return 0; };
}

ParamSource initial_source(std::uint64_t seed) {
  return [seed](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
                std::span<double> out) { initial_values(table, index, seed, first, out); };
}

template <class T>
Parameters<T>::Parameters(const ModelSpec& model, const Mesh& mesh, std::uint64_t seed,
                          Memory& memory)
    : Parameters(model, mesh, initial_source(seed), memory) {}

template <class T>
Parameters<T>::Parameters(const ModelSpec& model, const Mesh& mesh, const ParamSource& source,
                          Memory& memory, const ChunkOf& chunk_of) {
  const std::vector<ParamSpec> table = param_table(model);
  for (std::size_t index = 0; index < table.size(); ++index) {
    const int chunk = chunk_of(table[index]);
    if (chunk < 0) {
      continue;
    }
    Param<T>& param = params_.emplace_back();
    param.spec = table[index];
    param.slice = slice_of(table[index], model, mesh.degree(Axis::tp), mesh.index(Axis::tp));
    param.chunk = chunk;
    make(param, memory);
    if (!param.shares_value) {
      upload_initial(table, index, source, param, memory);
    }
  }
}

template <class T>
void Parameters<T>::make(Param<T>& param, Memory& memory) {
  const Param<T>* const tied_to = param.is_tied() ? find(param.spec.tied_to) : nullptr;
  param.shares_value = tied_to != nullptr;
  param.grad = gradients_.emplace_back(memory, MemoryTag::gradient, param.count()).data();
  param.value = param.shares_value
                    ? tied_to->value
                    : values_.emplace_back(memory, MemoryTag::parameter, param.count()).data();
}

template <class T>
Param<T>* Parameters<T>::find(std::string_view name) {
  const auto found = std::find_if(params_.begin(), params_.end(),
                                  [&](const Param<T>& param) { return param.spec.name == name; });
  return found == params_.end() ? nullptr : &*found;
}

template <class T>
Param<T>& Parameters<T>::at(std::string_view name) {
  Param<T>* const found = find(name);
  assert(found != nullptr);
  return *found;
}

template <class T>
void Parameters<T>::clear_gradients() {
  for (Buffer<T>& gradient : gradients_) {
    gradient.clear();
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
