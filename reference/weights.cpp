#include "reference/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fixtures/error.hpp"

namespace meshparity::reference {

namespace {

/// Where a model's layers lie, by the options that decide what they have.
class PlaceFinder {
 public:
  PlaceFinder(const ModelSpec& model, const std::vector<ParamSpec>& table)
      : model_(model), table_(table) {}

  LinearPlace linear(const std::string& layer) const { return with_bias(layer, model_.biases); }
  NormPlace norm(const std::string& layer) const {
    return with_bias(layer, model_.biases && model_.norm == Norm::layernorm);
  }
  BlockPlaces block(const std::string& prefix) const {
    BlockPlaces places;
    places.norm1 = norm(prefix + "norm1");
    places.q = linear(prefix + "attn.q");
    places.k = linear(prefix + "attn.k");
    places.v = linear(prefix + "attn.v");
    places.out = linear(prefix + "attn.out");
    if (model_.qk_norm) {
      places.q_norm = with_bias(prefix + "attn.q_norm", false);
      places.k_norm = with_bias(prefix + "attn.k_norm", false);
    }
    if (model_.attention_sink) {
      places.sink = place_of(table_, prefix + "attn.sink");
    }
    places.norm2 = norm(prefix + "norm2");
    if (model_.activation == Activation::swiglu) {
      places.gate = linear(prefix + "mlp.gate");
    }
    places.up = linear(prefix + "mlp.up");
    places.down = linear(prefix + "mlp.down");
    return places;
  }

 private:
  LinearPlace with_bias(const std::string& layer, bool has_bias) const {
    LinearPlace place = {place_of(table_, layer + ".weight"), std::nullopt};
    if (has_bias) {
      place.bias = place_of(table_, layer + ".bias");
    }
    return place;
  }

  const ModelSpec& model_;
  const std::vector<ParamSpec>& table_;
};

}  // namespace

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
  const PlaceFinder find(model, table);
  ModelPlaces places;
  places.embedding = place_of(table, "embed.weight");
  if (model.positions == Positions::learned) {
    places.position = place_of(table, "embed.position");
  }
  for (int layer = 0; layer < model.layers; ++layer) {
    places.blocks.push_back(find.block(fmt::format("layer{}.", layer)));
  }
  places.final_norm = find.norm("final_norm");
  places.head = place_of(table, "head.weight");
  return places;
}

Matrix zero_matrix(const ParamSpec& param) {
  const bool vector = param.shape.size() == 1;
  const std::int64_t rows = vector ? 1 : param.shape.front();
  return Matrix::Zero(rows, param.shape.back());
}

}  // namespace meshparity::reference
