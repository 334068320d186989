#include "parallel_impl/planted_source.hpp"

namespace meshparity {
namespace {

constexpr std::string_view kWeight = "layer0.attn.q.weight";
constexpr std::string_view kBias = "layer0.attn.q.bias";

bool fires(const RankContext& context, std::string_view fault) {
  return context.faults.fires(fault, {0, "shard", "initialise", 0, context.mesh.rank()});
}

/// The last column of the first rank and the first column of the second change places.
ParamSource with_swapped_border(const ParamSource& source, int tp) {
  return [=](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
             std::span<double> out) {
    source(table, index, first, out);
    if (table[index].name != kWeight) {
      return;
    }
    const std::int64_t columns = table[index].shape[1];
    const std::int64_t border = columns / tp;
    const std::int64_t row_begin = first / columns * columns;
    const auto replace = [&](std::int64_t column, std::int64_t by) {
      const std::int64_t place = row_begin + column - first;
      if (place >= 0 && place < static_cast<std::int64_t>(out.size())) {
        source(table, index, row_begin + by, out.subspan(static_cast<std::size_t>(place), 1));
      }
    };
    replace(border - 1, border);
    replace(border, border - 1);
  };
}

/// Every slice but the first begins one element too early.
ParamSource with_shifted_bias(const ParamSource& source) {
  return [=](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
             std::span<double> out) {
    const bool shifts = table[index].name == kBias && first > 0;
    source(table, index, shifts ? first - 1 : first, out);
  };
}

}  // namespace

ParamSource planted_source(ParamSource source, const RankContext& context) {
  const int tp = context.mesh.degree(Axis::tp);
  if (tp > 1 && fires(context, "swap_border_columns")) {
    source = with_swapped_border(source, tp);
  }
  if (tp > 1 && fires(context, "shift_bias_shard")) {
    source = with_shifted_bias(source);
  }
  return source;
}

}  // namespace meshparity
