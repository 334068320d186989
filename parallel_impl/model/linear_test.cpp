// The worked example of tensor parallelism: x[3,8] times W[8,12] in 4 column parts and in 4 row
// parts equals the dense product.
#include "parallel_impl/model/linear.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "parallel_impl/model/column_linear.hpp"
#include "parallel_impl/model/row_linear.hpp"
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
    std::vector<double> x(kRows * kIn);
    for (int at = 0; at < kRows * kIn; ++at) {
      x[static_cast<std::size_t>(at)] = x_at(at / kIn, at % kIn);
    }
    std::vector<double>& mine = parts[static_cast<std::size_t>(rank)];
    mine.resize(kRows * kOut / kParts);
    Tensor<double> out = {mine.data(), kRows, kOut / kParts, part()};

    ColumnLinear<double>(self.parts, weight, bias)
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
    std::vector<double> x(kRows * 2);
    for (int at = 0; at < kRows * 2; ++at) {
      x[static_cast<std::size_t>(at)] = x_at(at / 2, 2 * rank + at % 2);
    }
    std::vector<double>& mine = outs[static_cast<std::size_t>(rank)];
    mine.resize(kRows * kOut);
    Tensor<double> out = {mine.data(), kRows, kOut, part()};

    RowLinear<double>(self.parts, weight, bias, "mlp.down")
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

/// dW = x^T dY, dX = dY W^T and the bias gradient, by plain loops.
TEST(ColumnLinear, GradientsOfPartsMakeTheDenseGradients) {
  const ModelSpec model = model_with(kIn, kOut);
  const auto dy_at = [](int row, int j) { return (row * 3 + j * 2) % 5 - 2.0; };
  on_ranks(tp4(), [&](ThreadWorld& world, int rank) {
    TestRank self(model, tp4(), world, rank, 1);
    Param<double>& weight = self.params.at("layer0.mlp.up.weight");
    Param<double>& bias = self.params.at("layer0.mlp.up.bias");
    set_slice(weight, weight_at);
    std::vector<double> x(kRows * kIn), dy(kRows * 3), dx(kRows * kIn);
    for (int row = 0; row < kRows; ++row) {
      for (int i = 0; i < kIn; ++i) {
        x[static_cast<std::size_t>(row * kIn + i)] = x_at(row, i);
      }
      for (int j = 0; j < 3; ++j) {
        dy[static_cast<std::size_t>(row * 3 + j)] = dy_at(row, 3 * rank + j);
      }
    }
    const ColumnLinear<double> linear(self.parts, weight, bias);
    const Tensor<double> grad = {dy.data(), kRows, 3, shard(1)};
    Tensor<double> grad_x = {dx.data(), kRows, kIn, rep()};

    linear.weight_grad(Tensor<double>{x.data(), kRows, kIn, rep()}, grad);
    linear.input_grad(grad, grad_x);
    sum_over_tp(self.parts, grad_x, Site{0, "mlp.up", "backward", 0, 0});

    for (int i = 0; i < kIn; ++i) {
      for (int j = 0; j < 3; ++j) {
        double sum = 0;
        for (int row = 0; row < kRows; ++row) {
          sum += x_at(row, i) * dy_at(row, 3 * rank + j);
        }
        EXPECT_EQ(weight.grad.data()[i * 3 + j], sum);
      }
      for (int row = 0; row < kRows; ++row) {
        double sum = 0;
        for (int j = 0; j < kOut; ++j) {
          sum += dy_at(row, j) * weight_at(i, j);
        }
        EXPECT_EQ(dx[static_cast<std::size_t>(row * kIn + i)], sum);
      }
    }
    EXPECT_EQ(bias.grad.data()[0], dy_at(0, 3 * rank) + dy_at(1, 3 * rank) + dy_at(2, 3 * rank));
  });
}

}  // namespace
}  // namespace meshparity
