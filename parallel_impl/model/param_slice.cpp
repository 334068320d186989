#include "parallel_impl/model/param_slice.hpp"

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

}  // namespace meshparity
