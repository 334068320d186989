#include "reference/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/micro_case.hpp"

namespace meshparity::reference {
namespace {

TEST(Sample, LabelsAreTheNextTokens) {
  const Problem problem = micro_problem();
  const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(1), 2);
  ASSERT_EQ(sample.tokens.size(), 5u);
  ASSERT_EQ(sample.labels.size(), 5u);
  for (int p = 0; p < 5; ++p) {
    EXPECT_EQ(sample.tokens[static_cast<std::size_t>(p)], problem.inputs.token(1, 2, p));
    EXPECT_EQ(sample.labels[static_cast<std::size_t>(p)], problem.inputs.token(1, 2, p + 1));
  }
}

TEST(Sample, ATokenCountsInsideTheLengthWhereItsBitIsSet) {
  const Problem problem = micro_problem();
  for (int index = 0; index < 4; ++index) {
    const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), index);
    for (int p = 0; p < 5; ++p) {
      const bool counts =
          p < problem.inputs.length(0, index) && problem.inputs.mask_bit(0, index, p);
      EXPECT_EQ(sample.weights[p], counts ? 1 : 0) << index << " " << p;
    }
    EXPECT_EQ(count_tokens_of_sample(problem.model(), problem.inputs, 0, index),
              sample.weights.sum());
  }
}

/// True when element i of the mask is decided by word `first` + i.
bool follows_words(const DropoutMask& mask, const WordStream& words, std::uint64_t first) {
  const auto threshold = static_cast<std::uint32_t>((1 - mask.keep_probability) * 0x1p32);
  bool same = mask.keep.size() > 0;
  for (Eigen::Index i = 0; i < mask.keep.size(); ++i) {
    const bool keeps = words.word(first + static_cast<std::uint64_t>(i)) >= threshold;
    same = same && mask.keep.data()[i] == (keeps ? 1 : 0);
  }
  return same;
}

// Micro: S 5, h 8, 4 heads. Sample 3's hidden elements begin at 3*5*8, its scores at 3*4*5*5. A
// large dropout, so that two masks cannot agree by chance.
TEST(Sample, KeepDecisionsAreThoseOfTheGlobalElements) {
  const Problem problem = micro_problem();
  const DropoutPlan plan = {7, 2, 0.5};
  const Sample sample = make_sample(problem.model(), problem.inputs, plan, 3);
  const auto words = [](WordOp op) { return WordStream{7, 2, 0, op}; };
  const BlockMasks& block = sample.blocks.front();

  EXPECT_TRUE(follows_words(sample.embedding, words(WordOp::embedding_dropout), 120));
  EXPECT_TRUE(follows_words(block.attention, words(WordOp::attention_dropout), 300));
  EXPECT_TRUE(
      follows_words(block.attention_residual, words(WordOp::attention_residual_dropout), 120));
  EXPECT_TRUE(follows_words(block.mlp_residual, words(WordOp::mlp_residual_dropout), 120));
  EXPECT_EQ(block.attention.keep.rows(), 20);
  EXPECT_EQ(block.attention.keep.cols(), 5);
}

TEST(Sample, WithoutDropoutThereAreNoMasks) {
  CaseSpec spec = spec_of("gpt-micro");
  spec.dropout = false;
  const Problem problem = problem_of(spec);
  const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), 0);
  EXPECT_EQ(sample.embedding.keep.size(), 0);
  EXPECT_EQ(sample.blocks.front().attention.keep.size(), 0);
}

TEST(Problem, WithoutSmoothingTheLossIsTheLabelsLogProbability) {
  for (const bool smoothing : {false, true}) {
    CaseSpec spec = spec_of("gpt-micro");
    spec.smoothing = smoothing;
    spec.ragged = false;
    const Problem problem = problem_of(spec);
    const Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
    const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), 0);
    Rounding exact = Rounding::exact();
    SampleWork work(problem.model());
    problem.network.forward(weights, sample, exact, work);
    const double nll = -std::log(work.class_probs(0, sample.labels[0]));
    EXPECT_EQ(std::abs(work.values.loss_token(0, 0) - nll) <= 1e-14 * nll, !smoothing);
  }
}

TEST(Problem, TheCaseDecidesClipSmoothingAndRate) {
  CaseSpec spec = spec_of("gpt-micro");
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  EXPECT_EQ(problem_of(spec).clip_limit(), model.clip);
  EXPECT_EQ(problem_of(spec).learning_rate(), model.learning_rate);
  spec.clip = ClipMode::near;
  spec.optimizer = OptimizerKind::momentum;
  EXPECT_EQ(problem_of(spec).clip_limit(), model.clip_near);
  EXPECT_EQ(problem_of(spec).learning_rate(), model.sgd_learning_rate);
  spec.clip = ClipMode::off;
  EXPECT_EQ(problem_of(spec).clip_limit(), std::nullopt);
}

}  // namespace
}  // namespace meshparity::reference
