#include "matrix/expect/owners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fixtures/error.hpp"
#include "matrix/expect/grid.hpp"

namespace meshparity::expect {
namespace {

/// How a parameter lies over tp, and what its gradient needs where it is whole.
enum class Lay {
  by_outputs,     // column-parallel: dim 1 of a weight, dim 0 of its bias
  by_inputs,      // row-parallel weight: dim 0
  by_vocabulary,  // dim 0, of the padded vocabulary
  by_heads,       // dim 0, one number a query head
  whole,          // every rank does the same with it
  whole_on_rows,  // applied to rows, which sequence parallelism cuts
  whole_on_heads  // applied to the heads of one rank
};
struct Formula {
  std::string_view name;  // without "layer<i>." and without ".weight" or ".bias"
  Lay weight;
  Lay bias;
};
constexpr std::array<Formula, 16> kFormulas = {{
    {"embed", Lay::by_vocabulary, Lay::whole},
    {"embed.position", Lay::whole, Lay::whole},
    {"head", Lay::by_vocabulary, Lay::whole},
    {"norm1", Lay::whole_on_rows, Lay::whole_on_rows},
    {"norm2", Lay::whole_on_rows, Lay::whole_on_rows},
    {"final_norm", Lay::whole_on_rows, Lay::whole_on_rows},
    {"attn.q", Lay::by_outputs, Lay::by_outputs},
    {"attn.k", Lay::by_outputs, Lay::by_outputs},
    {"attn.v", Lay::by_outputs, Lay::by_outputs},
    {"attn.q_norm", Lay::whole_on_heads, Lay::whole_on_heads},
    {"attn.k_norm", Lay::whole_on_heads, Lay::whole_on_heads},
    {"attn.sink", Lay::by_heads, Lay::by_heads},
    {"attn.out", Lay::by_inputs, Lay::whole_on_rows},
    {"mlp.gate", Lay::by_outputs, Lay::by_outputs},
    {"mlp.up", Lay::by_outputs, Lay::by_outputs},
    {"mlp.down", Lay::by_inputs, Lay::whole_on_rows},
}};

struct Stem {
  std::string_view name;
  bool is_bias = false;
};

/// "attn.q" of "layer3.attn.q.bias".
Stem stem_of(std::string_view name) {
  if (name.starts_with("layer")) {
    name.remove_prefix(name.find('.') + 1);
  }
  const bool is_bias = name.ends_with(".bias");
  for (const std::string_view end : {std::string_view(".bias"), std::string_view(".weight")}) {
    if (name.ends_with(end)) {
      name.remove_suffix(end.size());
      break;
    }
  }
  return {name, is_bias};
}

Lay lay_of(const std::string& name) {
  const Stem stem = stem_of(name);
  const auto found = std::find_if(kFormulas.begin(), kFormulas.end(),
                                  [&](const Formula& each) { return each.name == stem.name; });
  if (found == kFormulas.end()) {
    throw Error(fmt::format("expecting the owners of parameter {}: it has no formula", name));
  }
  return stem.is_bias ? found->bias : found->weight;
}

/// Of the parameter's dims, the one that tp cuts.
std::size_t cut_dim(const ParamSpec& param, Lay lay) {
  return lay == Lay::by_outputs ? param.shape.size() - 1 : 0;
}

bool is_key_or_value(const std::string& name) {
  const std::string_view stem = stem_of(name).name;
  return stem == "attn.k" || stem == "attn.v";
}

bool is_cut(Lay lay) {
  return lay == Lay::by_outputs || lay == Lay::by_inputs || lay == Lay::by_vocabulary ||
         lay == Lay::by_heads;
}

/// Share `index` of `shares` of the padded extent; what lies beyond the logical one is padding.
void cut(ParamPart& part, std::size_t dim, std::int64_t padded, int shares, int index) {
  const std::int64_t logical = part.box.extent[dim];
  const std::int64_t width = padded / shares;
  const std::int64_t first = std::min(index * width, logical);
  part.in_memory = part.in_memory / logical * width;
  part.box.start[dim] = first;
  part.box.extent[dim] = std::min(width, logical - first);
}

Box share_of_rows(const Box& box, int copies, int copy) {
  const Rows rows = share_of(box.extent.front(), copies, copy);
  Box share = box;
  share.start.front() += rows.first;
  share.extent.front() = rows.count;
  return share;
}

}  // namespace

Rows share_of(std::int64_t rows, int shares, int index) {
  const std::int64_t longer = rows % shares;
  const std::int64_t before = std::min<std::int64_t>(index, longer);
  return {rows / shares * index + before, rows / shares + (index < longer ? 1 : 0)};
}

ParamPart part_of(const ParamSpec& param, const Layout& layout, int rank) {
  const int tp = layout.spec.mesh.degree(Axis::tp);
  const int index = coordinate_on(layout.spec, rank, Axis::tp);
  const Lay lay = lay_of(param.name);
  ParamPart part;
  part.box = {std::vector<std::int64_t>(param.shape.size(), 0), param.shape};
  part.in_memory = element_count(param.shape);
  part.cut = is_cut(lay);
  part.partial = tp > 1 && (lay == Lay::whole_on_heads ||
                            (lay == Lay::whole_on_rows && layout.spec.sequence_parallel));
  if (is_key_or_value(param.name)) {
    part.copies = std::max(1, tp / layout.model.kv_heads);
    part.copy = index % part.copies;
  }
  if (part.cut) {
    const std::size_t dim = cut_dim(param, lay);
    const std::int64_t padded =
        lay == Lay::by_vocabulary ? layout.model.padded_vocabulary : param.shape[dim];
    cut(part, dim, padded, tp / part.copies, index / part.copies);
  }
  part.dumped = share_of_rows(part.box, part.copies, part.copy);
  part.contributors = layout.spec.mesh.degree(Axis::dp) * part.copies * (part.partial ? tp : 1);
  return part;
}

}  // namespace meshparity::expect
