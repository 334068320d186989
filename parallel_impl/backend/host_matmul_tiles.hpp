// The product in tiles of rows and vectors of columns, for the instruction set of the translation
// unit that includes this. Everything has internal linkage and calls nothing of the standard
// library: a shared inline function compiled for AVX-512 could be linked into code for lesser CPUs.
#pragma once
#include "parallel_impl/kernels/matmul.cuh"

namespace meshparity {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kTileRows = 6;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kTileRows = 4;
#else
constexpr int kVectorBytes = 16;
constexpr int kTileRows = 4;
#endif
constexpr int kTileVectors = 2;
constexpr int kDepthBlock = 128;  // a block of b's columns stays in the first-level cache

template <class T>
struct Tile {
  typedef T Vector __attribute__((vector_size(kVectorBytes), may_alias));
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  static constexpr int kColumns = kTileVectors * kLanes;
};

/// Columns [first, first + columns) of b at depths [begin, begin + depth), row by row, padded with
/// zeros to the width of a tile.
template <class T>
struct Panel {
  alignas(kVectorBytes) T values[kDepthBlock * Tile<T>::kColumns];

  void fill(const Matmul<T>& product, int begin, int depth, int first, int columns) {
    for (int k = 0; k < depth; ++k) {
      const T* from = product.b + (begin + k) * product.b_depth + first * product.b_column;
      T* to = values + k * Tile<T>::kColumns;
      for (int j = 0; j < columns; ++j) {
        to[j] = from[j * product.b_column];
      }
      for (int j = columns; j < Tile<T>::kColumns; ++j) {
        to[j] = 0;
      }
    }
  }
};

/// The sums of one tile. They rest in `out` between blocks of depth, which changes no bit.
template <class T, int kRows>
struct Accumulators {
  alignas(kVectorBytes) T sums[kRows][Tile<T>::kColumns];

  void load(const T* out, int stride, int columns) {
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < columns; ++j) {
        sums[r][j] = out[r * stride + j];
      }
      for (int j = columns; j < Tile<T>::kColumns; ++j) {
        sums[r][j] = 0;
      }
    }
  }
  void store(T* out, int stride, int columns) const {
    for (int r = 0; r < kRows; ++r) {
      for (int j = 0; j < columns; ++j) {
        out[r * stride + j] = sums[r][j];
      }
    }
  }
};

/// sums[r][j] += a(r, k) * panel(k, j), k ascending.
template <class T, int kRows>
void multiply(const T* a, const Matmul<T>& product, const Panel<T>& panel, int depth,
              Accumulators<T, kRows>& tile) {
  using Vector = typename Tile<T>::Vector;
  Vector sums[kRows][kTileVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) {
      sums[r][v] = *reinterpret_cast<const Vector*>(&tile.sums[r][v * Tile<T>::kLanes]);
    }
  }
  const T* row = panel.values;
  for (int k = 0; k < depth; ++k, a += product.a_depth, row += Tile<T>::kColumns) {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kTileVectors; ++v) {
        const Vector b = *reinterpret_cast<const Vector*>(row + v * Tile<T>::kLanes);
        sums[r][v] = sums[r][v] + a[r * product.a_row] * b;
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kTileVectors; ++v) {
      *reinterpret_cast<Vector*>(&tile.sums[r][v * Tile<T>::kLanes]) = sums[r][v];
    }
  }
}

struct Place {
  int row;
  int column;
  int columns;
  int depth;  // where the block begins
  int depths;
};

template <class T, int kRows>
void add_rows(const Matmul<T>& product, const Panel<T>& panel, const Place& place) {
  Accumulators<T, kRows> tile;
  T* out = product.out + place.row * product.columns + place.column;
  tile.load(out, product.columns, place.depth == 0 ? 0 : place.columns);
  multiply<T, kRows>(product.a + place.row * product.a_row + place.depth * product.a_depth, product,
                     panel, place.depths, tile);
  tile.store(out, product.columns, place.columns);
}

template <class T>
void add_panel(const Matmul<T>& product, const Panel<T>& panel, Place place) {
  for (; place.row + kTileRows <= product.rows; place.row += kTileRows) {
    add_rows<T, kTileRows>(product, panel, place);
  }
  for (; place.row < product.rows; ++place.row) {
    add_rows<T, 1>(product, panel, place);
  }
}

template <class T>
void matmul_by_tiles(const Matmul<T>& product) {
  Panel<T> panel;
  for (int first = 0; first < product.columns; first += Tile<T>::kColumns) {
    const int rest = product.columns - first;
    const int columns = rest < Tile<T>::kColumns ? rest : Tile<T>::kColumns;
    int begin = 0;
    do {  // once even at depth 0, which gives zeros
      const int left = product.depth - begin;
      const int depth = left < kDepthBlock ? left : kDepthBlock;
      panel.fill(product, begin, depth, first, columns);
      add_panel(product, panel, Place{0, first, columns, begin, depth});
      begin += depth;
    } while (begin < product.depth);
  }
}

}  // namespace
}  // namespace meshparity
