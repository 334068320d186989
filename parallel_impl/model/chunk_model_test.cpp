// The backward pass is the slope of the forward pass: every parameter element of the micro model by
// central differences, with dropout, smoothing and masks.
#include "parallel_impl/model/chunk_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "fixtures/error.hpp"
#include "parallel_impl/model/test_rank.hpp"
#include "parallel_impl/optimizer/exact_sum.hpp"

namespace meshparity {
namespace {

/// One rank, one micro-batch of step 0.
class Lone {
 public:
  explicit Lone(const CaseSpec& spec)
      : model_(load_named_model(MESHPARITY_MODELS, spec.model)),
        spec_(spec),
        world_({"single"}),
        rank_(model_, spec_, world_, 0, model_.global_batch),
        rotation_(model_, *rank_.backend),
        chunk_(rank_.parts, rank_.params, rotation_, {0, model_.layers + 2},
               spec.smoothing ? model_.smoothing : 0),
        batch_(model_.global_batch * model_.sequence, *rank_.backend) {
    const RawInputs inputs(model_, spec_, nullptr);
    batch_.load(inputs, batch_place(model_, spec_, rank_.mesh, 0, 0));
  }

  double loss() {
    saved_.emplace(chunk_);
    chunk_.forward(batch_, *saved_);
    const Buffer<double>& losses = saved_->head->loss.loss;
    ExactSum sum;
    for (std::int64_t i = 0; i < losses.count(); ++i) {
      sum.add(losses.data()[i]);
    }
    return sum.value();
  }
  void backward() {
    Buffer<double> grad(*rank_.backend, MemoryTag::buffer, rank_.parts.stream_count());
    Tensor<double> of_input = matrix_in(grad, rank_.extent.stream.count, rep());
    chunk_.backward(batch_, of_input, *saved_);
    if (rank_.parts.splits_backward) {
      chunk_.weight_backward(batch_.place(), *saved_);
    }
  }
  Parameters<double>& params() { return rank_.params; }
  std::int64_t tokens() const { return batch_.counted(); }

 private:
  ModelSpec model_;
  CaseSpec spec_;
  ThreadWorld world_;
  TestRank rank_;
  Rotation<double> rotation_;
  ChunkModel<double> chunk_;
  std::optional<ChunkModel<double>::Saved> saved_;
  MicroBatch<double> batch_;
};

/// Five points: the error is step^4 / 30 times the fifth derivative.
double slope(Lone& lone, double& value) {
  constexpr double kStep = 0x1p-12;
  const double at = value;
  const auto loss_at = [&](double offset) {
    value = at + offset;
    return lone.loss();
  };
  const double near = loss_at(kStep) - loss_at(-kStep);
  const double far = loss_at(2 * kStep) - loss_at(-2 * kStep);
  value = at;
  return (8 * near - far) / (12 * kStep);
}

/// What a parameter's whole gradient is: a tied weight has two uses and a buffer for each.
double gradient_at(Lone& lone, const Param<double>& param, int at) {
  double sum = param.grad[at];
  for (const Param<double>& other : lone.params().all()) {
    sum += other.spec.tied_to == param.spec.name ? other.grad[at] : 0;
  }
  return sum;
}

// A step of 2^-12 leaves 1.2e-16 times the fifth derivative (some 1e6 where a row to be normalised
// is short), and rounding of a loss of about 20 over the step, 1.5 * 20 * 2^-53 * 2^12 = 1.4e-11:
// 1e-8 is above both and far below any wrong term.
constexpr double kLimit = 1e-8;

void expect_slopes(const std::string& case_id) {
  Lone lone(parse_case(case_id));
  ASSERT_GT(lone.tokens(), 0);
  lone.loss();
  lone.backward();
  for (Param<double>& param : lone.params().all()) {
    for (int at = 0; !param.is_tied() && at < param.slice.logical; ++at) {
      const double expected = slope(lone, param.value[at]);
      ASSERT_NEAR(gradient_at(lone, param, at), expected, kLimit) << param.spec.name << " " << at;
    }
  }
}

TEST(ChunkModel, EveryGradientIsTheSlopeOfTheLoss) {
  expect_slopes("gpt-micro.single.plain.fp64.host-threads");
}

TEST(ChunkModel, EveryGradientOfALlamaIsTheSlopeOfTheLoss) {
  expect_slopes("llama-micro.single.plain.fp64.host-threads");
}

TEST(ChunkModel, EveryGradientOfAMixedModelIsTheSlopeOfTheLoss) {
  expect_slopes("mixed-micro.single.plain.fp64.host-threads");
}

TEST(ChunkModel, PaddedRowsHaveNoGradient) {
  Lone lone(parse_case("gpt-micro.single.plain.fp64.host-threads"));
  lone.loss();
  lone.backward();
  const Param<double>& head = lone.params().at("head.weight");

  for (int at = head.slice.logical; at < head.count(); ++at) {
    EXPECT_EQ(head.grad[at], 0);
  }
}

TEST(ChunkModel, ASecondMicroBatchAddsToTheFirst) {
  Lone lone(parse_case("gpt-micro.single.plain.fp64.host-threads"));
  lone.loss();
  lone.backward();
  const Param<double>& param = lone.params().at("layer0.mlp.up.weight");
  const std::vector<double> once(param.grad, param.grad + param.count());
  lone.loss();
  lone.backward();

  for (std::size_t at = 0; at < once.size(); ++at) {
    EXPECT_EQ(param.grad[at], 2 * once[at]);
  }
}

TEST(ChunkModel, WithoutDropoutAndSmoothingTheGradientsAreSlopesToo) {
  Lone lone(parse_case("gpt-micro.single.drop0-smooth0-maskfull.fp64.host-threads"));
  lone.loss();
  lone.backward();
  for (Param<double>& param : lone.params().all()) {
    for (int at = 0; !param.is_tied() && at < param.slice.logical; at += 7) {
      const double expected = slope(lone, param.value[at]);
      ASSERT_NEAR(gradient_at(lone, param, at), expected, kLimit) << param.spec.name << " " << at;
    }
  }
}

}  // namespace
}  // namespace meshparity
