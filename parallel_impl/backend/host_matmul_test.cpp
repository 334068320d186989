#include "parallel_impl/backend/host_matmul.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace meshparity {
namespace {

/// Numbers of both signs with long mantissas, so that another order or a fused operation shows.
template <class T>
std::vector<T> irregular(int count, unsigned seed) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    values.push_back(static_cast<T>(static_cast<int>(seed)) / static_cast<T>(1.7e9));
  }
  return values;
}

struct Shape {
  int rows, depth, columns;
};

template <class T>
struct Operands {
  std::vector<T> a, b;
  Matmul<T> product;
};

enum class Form { plain, right_transposed, left_transposed };

template <class T>
Operands<T> operands(Form form, Shape shape) {
  Operands<T> made = {
      irregular<T>(shape.rows * shape.depth, 1), irregular<T>(shape.depth * shape.columns, 2), {}};
  const bool left = form == Form::left_transposed;
  const bool right = form == Form::right_transposed;
  made.product = {made.a.data(),
                  left ? 1 : shape.depth,
                  left ? shape.rows : 1,
                  made.b.data(),
                  right ? 1 : shape.columns,
                  right ? shape.depth : 1,
                  nullptr,
                  shape.rows,
                  shape.columns,
                  shape.depth};
  return made;
}

template <class T>
std::vector<T> by_body(const Operands<T>& from, Shape shape) {
  std::vector<T> out(static_cast<std::size_t>(shape.rows * shape.columns), T(99));
  Matmul<T> product = from.product;
  product.out = out.data();
  for (int row = 0; row < product.groups(); ++row) {
    product(OneLane{}, row);
  }
  return out;
}

/// One guard value behind the output must survive.
template <class T>
std::vector<T> by_variant(const Operands<T>& from, Shape shape, InstructionSet set) {
  std::vector<T> out(static_cast<std::size_t>(shape.rows * shape.columns) + 1, T(99));
  Matmul<T> product = from.product;
  product.out = out.data();
  host_matmul<T>(set)(product);
  EXPECT_EQ(out.back(), T(99));
  out.pop_back();
  return out;
}

template <class T>
void expect_equal_bits(Form form, Shape shape) {
  const Operands<T> from = operands<T>(form, shape);
  const std::vector<T> expected = by_body(from, shape);
  for (const InstructionSet set : instruction_sets()) {
    const std::vector<T> out = by_variant(from, shape, set);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0)
        << "instruction set " << static_cast<int>(set) << ", form " << static_cast<int>(form)
        << ", " << shape.rows << " x " << shape.depth << " x " << shape.columns;
  }
}

// Depths beside 128 cross a block, rows beside 4 and 6 and columns beside 16 leave part tiles.
const std::vector<Shape> kShapes = {{1, 1, 1},     {3, 5, 7},      {6, 128, 16},  {7, 129, 17},
                                    {13, 257, 33}, {252, 72, 264}, {72, 252, 36}, {5, 3, 100}};

TEST(HostMatmul, EveryInstructionSetGivesTheBitsOfTheKernelBody) {
  for (const Form form : {Form::plain, Form::right_transposed, Form::left_transposed}) {
    for (const Shape& shape : kShapes) {
      expect_equal_bits<double>(form, shape);
      expect_equal_bits<float>(form, shape);
    }
  }
}

TEST(HostMatmul, WithoutDepthTheProductIsZero) {
  for (const InstructionSet set : instruction_sets()) {
    std::vector<double> out(6, 99);

    host_matmul<double>(set)(Matmul<double>{nullptr, 0, 1, nullptr, 3, 1, out.data(), 2, 3, 0});

    EXPECT_EQ(out, std::vector<double>(6));
  }
}

TEST(HostMatmul, ASliceOfColumnsHasTheBitsOfTheWhole) {
  const Shape shape = {9, 131, 40};
  Operands<double> from = operands<double>(Form::plain, shape);
  const std::vector<double> whole = by_variant(from, shape, best_instruction_set());
  std::vector<double> slice(9 * 7);

  from.product.b += 21;
  from.product.columns = 7;
  from.product.out = slice.data();
  host_matmul<double>(best_instruction_set())(from.product);

  for (std::size_t row = 0; row < 9; ++row) {
    for (std::size_t column = 0; column < 7; ++column) {
      EXPECT_EQ(slice[row * 7 + column], whole[row * 40 + 21 + column]);
    }
  }
}

}  // namespace
}  // namespace meshparity
