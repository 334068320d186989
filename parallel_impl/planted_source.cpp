#include "parallel_impl/planted_source.hpp"

#include <algorithm>
#include <utility>

namespace meshparity {
namespace {

constexpr std::string_view kWeight = "layer0.attn.q.weight";
constexpr std::string_view kBias = "layer0.attn.q.bias";
constexpr std::string_view kRowWeight = "layer0.mlp.down.weight";
constexpr std::string_view kKeys = "layer0.attn.k.weight";
constexpr std::string_view kGate = "layer0.mlp.gate.weight";
constexpr std::string_view kUp = "layer0.mlp.up.weight";

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

/// The last row of the first rank and the first row of the second change places.
ParamSource with_swapped_rows(const ParamSource& source, int tp) {
  return [=](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
             std::span<double> out) {
    const std::vector<std::int64_t>& shape = table[index].shape;
    if (table[index].name == kRowWeight) {
      const std::int64_t border = shape[0] / tp;
      const std::int64_t row = first / shape[1];
      first += row == border ? -shape[1] : row == border - 1 ? shape[1] : 0;
    }
    source(table, index, first, out);
  };
}

/// Each element of the slice comes from the column `column_of(parameter, column)`.
template <class ColumnOf>
ParamSource by_columns(const ParamSource& source, const ColumnOf& column_of) {
  return [=](const std::vector<ParamSpec>& table, std::size_t index, std::int64_t first,
             std::span<double> out) {
    const std::int64_t columns = table[index].shape.back();
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t at = first + static_cast<std::int64_t>(i);
      const auto [from, column] = column_of(table, index, at % columns);
      source(table, from, at / columns * columns + column, out.subspan(i, 1));
    }
  };
}

/// Keys of the next key head, the last rank's of the first.
ParamSource with_neighbours_keys(const ParamSource& source, const ModelSpec& model) {
  return by_columns(source, [head = model.head_dim](const std::vector<ParamSpec>& table,
                                                    std::size_t index, std::int64_t column) {
    const bool keys = table[index].name == kKeys;
    return std::pair(index, keys ? (column + head) % table[index].shape.back() : column);
  });
}

/// Gate and up side by side are cut as one matrix, so the first ranks hold gates alone: of 12 + 12
/// columns on 2 ranks the first gets gate 0 to 11 as its gate and up.
ParamSource with_joined_gate(const ParamSource& source, int tp) {
  return by_columns(source, [tp](const std::vector<ParamSpec>& table, std::size_t index,
                                 std::int64_t column) {
    const bool gate = table[index].name == kGate;
    if (!gate && table[index].name != kUp) {
      return std::pair(index, column);
    }
    const std::int64_t ffn = table[index].shape.back();
    const std::int64_t width = ffn / tp;
    const std::int64_t joined = column / width * 2 * width + column % width + (gate ? 0 : width);
    const std::string_view name = joined < ffn ? kGate : kUp;
    const auto from = std::find_if(table.begin(), table.end(),
                                   [&](const ParamSpec& param) { return param.name == name; });
    return std::pair(static_cast<std::size_t>(from - table.begin()), joined % ffn);
  });
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
  if (tp > 1 && fires(context, "swap_border_rows")) {
    source = with_swapped_rows(source, tp);
  }
  if (tp > context.model.kv_heads && fires(context, "keys_of_next_head")) {
    source = with_neighbours_keys(source, context.model);
  }
  if (tp > 1 && fires(context, "gate_and_up_cut_as_one")) {
    source = with_joined_gate(source, tp);
  }
  return source;
}

}  // namespace meshparity
