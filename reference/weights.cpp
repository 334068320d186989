#include "reference/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity::reference {

Weight::Weight(Matrix values)
    : value(std::move(values)),
      row_squares(value.rowwise().squaredNorm()),
      column_squares(value.colwise().squaredNorm()) {}

std::size_t place_of(const std::vector<ParamSpec>& table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const ParamSpec& param) { return param.name == name; });
  if (found == table.end()) {
    throw Error(fmt::format("building the reference model: there is no parameter {}", name));
  }
  return static_cast<std::size_t>(found - table.begin());
}

ModelPlaces model_places(const ModelSpec& model, const std::vector<ParamSpec>& table) {
  const auto both = [&](const std::string& layer) {
    return LinearPlace{place_of(table, layer + ".weight"), place_of(table, layer + ".bias")};
  };
  ModelPlaces places;
  places.embedding = place_of(table, "embed.weight");
  places.position = place_of(table, "embed.position");
  for (int layer = 0; layer < model.layers; ++layer) {
    const std::string prefix = fmt::format("layer{}.", layer);
    places.blocks.push_back({both(prefix + "norm1"), both(prefix + "attn.q"),
                             both(prefix + "attn.k"), both(prefix + "attn.v"),
                             both(prefix + "attn.out"), both(prefix + "norm2"),
                             both(prefix + "mlp.up"), both(prefix + "mlp.down")});
  }
  places.final_norm = both("final_norm");
  places.head = place_of(table, "head.weight");
  return places;
}

Matrix zero_matrix(const ParamSpec& param) {
  const bool vector = param.shape.size() == 1;
  const std::int64_t rows = vector ? 1 : param.shape.front();
  return Matrix::Zero(rows, param.shape.back());
}

}  // namespace meshparity::reference
