#include "parallel_impl/planted_source.hpp"

#include <algorithm>
#include <utility>

namespace meshparity {
namespace {

constexpr std::string_view kWeight = "layer0.attn.q.weight";
constexpr std::string_view kBias = "layer0.attn.q.bias";

bool fires(const RankContext& context, std::string_view fault) {
  return context.faults.fires(fault, {0, "shard", "initialise", 0, context.mesh.rank()});
}

/// The last column of the first rank and the first column of the second change places.
void swap_border(const ParamSource& source, const RankContext& context,
                 const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
                 std::span<double> out) {
  const std::int64_t columns = table[index].shape[1];
  const std::int64_t border = columns / context.mesh.degree(Axis::tp);
  const std::int64_t row = first / columns;
  const auto replace = [&](std::int64_t column, std::int64_t by) {
    const std::int64_t place = row * columns + column - first;
    if (place >= 0 && place < static_cast<std::int64_t>(out.size())) {
      source(table, index, row * columns + by, out.subspan(static_cast<std::size_t>(place), 1));
    }
  };
  replace(border - 1, border);
  replace(border, border - 1);
}

}  // namespace

ParamSource planted_source(ParamSource source, const RankContext& context) {
  const bool several = context.mesh.degree(Axis::tp) > 1;
  const bool swapped = several && fires(context, "swap_border_columns");
  const bool shifted = several && fires(context, "shift_bias_shard");
  if (!swapped && !shifted) {
    return source;
  }
  return [=, &context](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
                       std::span<double> out) {
    const std::string& name = table[index].name;
    source(table, index, shifted && name == kBias ? std::max<std::int64_t>(0, first - 1) : first,
           out);
    if (swapped && name == kWeight) {
      swap_border(source, context, table, index, first, out);
    }
  };
}

}  // namespace meshparity
