// The worked example of tensor parallelism: x[3,8] times W[8,12] in 4 column parts and in 4 row
// parts equals the dense product.
#include "parallel_impl/model/linear.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "parallel_impl/model/column_linear.hpp"
#include "parallel_impl/model/row_linear.hpp"
#include "parallel_impl/model/stream.hpp"
#include "parallel_impl/model/test_rank.hpp"

namespace meshparity {
namespace {

constexpr int kIn = 8, kOut = 12, kRows = 3, kParts = 4;

/// Small integers: every sum is exact, so parts and whole may be compared with ==.
double x_at(int row, int i) {
  return (row * 5 + i * 3) % 7 - 3;
}
double weight_at(int i, int j) {
  return (i * 7 + j * 5) % 11 - 5;
}
double bias_at(int j) {
  return 100 * (j + 1);
}

double dense(int row, int j) {
  double sum = bias_at(j);
  for (int i = 0; i < kIn; ++i) {
    sum += x_at(row, i) * weight_at(i, j);
  }
  return sum;
}

/// Rows [0, 3) and columns [first, first + columns) of a matrix given by a function.
template <class F>
std::vector<double> columns_of(F value, int first, int columns) {
  std::vector<double> out;
  for (int row = 0; row < kRows; ++row) {
    for (int j = first; j < first + columns; ++j) {
      out.push_back(value(row, j));
    }
  }
  return out;
}

/// One sample of 3 tokens; `hidden` and `ffn` make mlp.up or mlp.down the [8, 12] matrix.
ModelSpec model_with(int hidden, int ffn) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.hidden = hidden;
  model.ffn = ffn;
  model.heads = model.kv_heads = 4;
  model.head_dim = hidden / 4;
  model.sequence = kRows;
  return model;
}

CaseSpec tp4() {
  return parse_case("gpt-micro.tp4.plain.fp64.host-threads");
}

void set_slice(Param<double>& param, double (*value)(int, int)) {
  const Box& box = param.slice.box;
  for (int at = 0; at < param.slice.logical; ++at) {
    const int row = at / param.slice.columns;
    const int column = at % param.slice.columns + static_cast<int>(box.start.back());
    const int first_row = box.start.size() == 2 ? static_cast<int>(box.start[0]) : 0;
    param.value[at] = value(first_row + row, column);
  }
}

TEST(ColumnLinear, FourColumnPartsMakeTheDenseProduct) {
  const ModelSpec model = model_with(kIn, kOut);
  std::array<std::vector<double>, kParts> parts;
  on_ranks(tp4(), [&](ThreadWorld& world, int rank) {
    TestRank self(model, tp4(), world, rank, 1);
    Param<double>& weight = self.params.at("layer0.mlp.up.weight");
    Param<double>& bias = self.params.at("layer0.mlp.up.bias");
    set_slice(weight, weight_at);
    set_slice(bias, [](int, int j) { return bias_at(j); });
    std::vector<double> x = columns_of(x_at, 0, kIn);
    std::vector<double>& mine = parts[static_cast<std::size_t>(rank)];
    mine.resize(kRows * kOut / kParts);
    Tensor<double> out = {mine.data(), kRows, kOut / kParts, part()};

    ColumnLinear<double>(self.parts, weight, &bias)
        .forward(Tensor<double>{x.data(), kRows, kIn, rep()}, out);

    EXPECT_EQ(out.tp, shard(1));
  });
  for (int row = 0; row < kRows; ++row) {
    for (int j = 0; j < kOut; ++j) {
      const auto& mine = parts[static_cast<std::size_t>(j / 3)];
      EXPECT_EQ(mine[static_cast<std::size_t>(row * 3 + j % 3)], dense(row, j));
    }
  }
}

/// Runs the row-parallel product on 4 ranks; returns what each holds.
std::array<std::vector<double>, kParts> row_parts(const CaseSpec& spec) {
  const ModelSpec model = model_with(kOut, kIn);
  std::array<std::vector<double>, kParts> outs;
  on_ranks(spec, [&](ThreadWorld& world, int rank) {
    TestRank self(model, spec, world, rank, 1);
    Param<double>& weight = self.params.at("layer0.mlp.down.weight");
    Param<double>& bias = self.params.at("layer0.mlp.down.bias");
    set_slice(weight, weight_at);
    set_slice(bias, [](int, int j) { return bias_at(j); });
    std::vector<double> x = columns_of(x_at, 2 * rank, 2);
    std::vector<double>& mine = outs[static_cast<std::size_t>(rank)];
    mine.resize(kRows * kOut);
    Tensor<double> out = {mine.data(), kRows, kOut, part()};

    RowLinear<double>(self.parts, weight, &bias, "mlp.down")
        .forward(BatchPlace{}, Tensor<double>{x.data(), kRows, 2, shard(1)}, out);

    EXPECT_EQ(out.tp, rep());
  });
  return outs;
}

TEST(RowLinear, FourRowPartsMakeTheDenseProductWithTheBiasOnce) {
  for (const std::vector<double>& out : row_parts(tp4())) {
    for (int row = 0; row < kRows; ++row) {
      for (int j = 0; j < kOut; ++j) {
        EXPECT_EQ(out[static_cast<std::size_t>(row * kOut + j)], dense(row, j));
      }
    }
  }
}

double dy_at(int row, int j) {
  return (row * 3 + j * 2) % 5 - 2.0;
}

double dense_weight_grad(int i, int j) {
  double sum = 0;
  for (int row = 0; row < kRows; ++row) {
    sum += x_at(row, i) * dy_at(row, j);
  }
  return sum;
}

double dense_input_grad(int row, int i) {
  double sum = 0;
  for (int j = 0; j < kOut; ++j) {
    sum += dy_at(row, j) * weight_at(i, j);
  }
  return sum;
}

TEST(ColumnLinear, GradientsOfPartsMakeTheDenseGradients) {
  const ModelSpec model = model_with(kIn, kOut);
  on_ranks(tp4(), [&](ThreadWorld& world, int rank) {
    TestRank self(model, tp4(), world, rank, 1);
    Param<double>& weight = self.params.at("layer0.mlp.up.weight");
    Param<double>& bias = self.params.at("layer0.mlp.up.bias");
    set_slice(weight, weight_at);
    std::vector<double> x = columns_of(x_at, 0, kIn);
    std::vector<double> dy = columns_of(dy_at, 3 * rank, 3);
    std::vector<double> dx(kRows * kIn);
    const ColumnLinear<double> linear(self.parts, weight, &bias);
    const Tensor<double> grad = {dy.data(), kRows, 3, shard(1)};
    Tensor<double> grad_x = {dx.data(), kRows, kIn, rep()};

    linear.weight_grad(Tensor<double>{x.data(), kRows, kIn, rep()}, grad);
    linear.input_grad(grad, grad_x);
    sum_over_tp(self.parts, grad_x, Site{0, "mlp.up", "backward", 0, 0});

    for (int at = 0; at < kIn * 3; ++at) {
      EXPECT_EQ(weight.grad[at], dense_weight_grad(at / 3, 3 * rank + at % 3));
    }
    EXPECT_EQ(dx, columns_of(dense_input_grad, 0, kIn));
    for (int j = 0; j < 3; ++j) {
      const int global = 3 * rank + j;
      EXPECT_EQ(bias.grad[j], dy_at(0, global) + dy_at(1, global) + dy_at(2, global));
    }
  });
}

}  // namespace
}  // namespace meshparity
