// A model's parameters as the operations take them, and where each lies in the parameter table.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "fixtures/model_spec.hpp"
#include "fixtures/param_table.hpp"
#include "reference/tensor.hpp"

namespace meshparity::reference {

/// A parameter with the squared norms of its rows and columns, which the noise of products needs.
struct Weight {
  Matrix value;  // [in, out], embeddings [vocabulary, hidden], vectors [1, n]
  Column row_squares;
  Row column_squares;

  Weight() = default;
  explicit Weight(Matrix values);
};

/// One for each row of the parameter table.
using Weights = std::vector<Weight>;

/// Places of a layer's parameters in the table.
struct LinearPlace {
  std::size_t weight = 0;
  std::size_t bias = 0;
};
using NormPlace = LinearPlace;
struct BlockPlaces {
  NormPlace norm1;
  LinearPlace q, k, v, out;
  NormPlace norm2;
  LinearPlace up, down;
};
struct ModelPlaces {
  std::size_t embedding = 0;
  std::size_t position = 0;
  std::vector<BlockPlaces> blocks;
  NormPlace final_norm;
  std::size_t head = 0;
};

/// Throws Error when the table lacks a parameter of this model.
ModelPlaces model_places(const ModelSpec& model, const std::vector<ParamSpec>& table);
/// Throws Error when there is none of that name.
std::size_t place_of(const std::vector<ParamSpec>& table, const std::string& name);

/// The shape of a parameter as a matrix; a vector is one row.
Matrix zero_matrix(const ParamSpec& param);

}  // namespace meshparity::reference
