// How a tensor lies over the tensor-parallel group, as a tag at run time: layers demand the state
// that they need of what they are given (algorithms.md §0.2).
#pragma once
#include <cassert>
#include <cstdint>
#include <span>

#include "parallel_impl/backend/buffer.hpp"

namespace meshparity {

enum class Spread {
  replicated,  // every rank holds the whole value
  sharded,     // rank r holds slice r of one dim
  partial,     // the value is the sum of what the ranks hold
};

struct TpState {
  Spread spread = Spread::replicated;
  int dim = -1;  // sharded only
  bool operator==(const TpState&) const = default;
};
constexpr TpState rep() {
  return {Spread::replicated, -1};
}
constexpr TpState shard(int dim) {
  return {Spread::sharded, dim};
}
constexpr TpState part() {
  return {Spread::partial, -1};
}

/// What this rank holds of a matrix: a row a token, row-major. Refers to memory, owns none.
template <class T>
struct Tensor {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  TpState tp;

  int count() const { return rows * columns; }
  std::span<T> span() const { return {data, static_cast<std::size_t>(count())}; }
  void demand([[maybe_unused]] TpState state) const { assert(tp == state); }
};

/// Without rows there are no columns either.
template <class T>
Tensor<T> matrix_in(Buffer<T>& buffer, int rows, TpState state) {
  assert(rows == 0 ? buffer.count() == 0 : buffer.count() % rows == 0);
  return {buffer.data(), rows, rows == 0 ? 0 : static_cast<int>(buffer.count() / rows), state};
}

struct RowRange {
  int first = 0;
  int count = 0;
  bool operator==(const RowRange&) const = default;
};
/// Rows of share `index` of `shares`: where they do not divide, the first ones hold one more. Of 5
/// rows on 3 ranks, 0 and 1 | 2 and 3 | 4.
constexpr RowRange row_share(int rows, int shares, int index) {
  const int least = rows / shares;
  const int longer = rows % shares;
  return {index * least + (index < longer ? index : longer), least + (index < longer ? 1 : 0)};
}

}  // namespace meshparity
