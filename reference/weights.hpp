// A model's parameters as the operations take them, and where each lies in the parameter table.
#pragma once
#include <cstddef>
#include <optional>
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
  Matrix rounded;             // what x W sees where operands are rounded; else without elements
  Matrix rounded_transposed;  // what x W^T sees

  Weight() = default;
  explicit Weight(Matrix values);
  const Matrix& in_product() const { return rounded.size() > 0 ? rounded : value; }
  const Matrix& in_transposed_product() const {
    return rounded_transposed.size() > 0 ? rounded_transposed : value;
  }
};

/// One for each row of the parameter table.
using Weights = std::vector<Weight>;

/// Places of a layer's parameters in the table.
struct LinearPlace {
  std::size_t weight = 0;
  std::optional<std::size_t> bias;
};
using NormPlace = LinearPlace;
struct BlockPlaces {
  NormPlace norm1;
  LinearPlace q, k, v, out;
  NormPlace q_norm, k_norm;  // with qk_norm
  std::size_t sink = 0;      // with an attention sink
  NormPlace norm2;
  LinearPlace gate;  // with swiglu
  LinearPlace up, down;
};
struct ModelPlaces {
  std::size_t embedding = 0;
  std::size_t position = 0;  // with learned positions
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
