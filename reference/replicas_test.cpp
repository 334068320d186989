// The noisy replicas of whole steps: where they deviate, where not, and by how much.
#include <gtest/gtest.h>

#include <cmath>

#include "reference/micro_case.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

TEST(Companions, AreZeroWhereTheRecordIsExact) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::all, 1, true}).run(0);
  for (const auto& [phase, record] :
       {std::pair(Phase::forward, "embed.token"), std::pair(Phase::scalar, "token_count"),
        std::pair(Phase::scalar, "lr")}) {
    const Companion* const companion = find(output, phase, record);
    ASSERT_NE(companion, nullptr) << record;
    EXPECT_EQ(companion->total, 0) << record;
    EXPECT_EQ(companion->s2, std::vector<float>(companion->s2.size())) << record;
  }
  EXPECT_EQ(find(output, Phase::exact, "sample_ids"), nullptr);
}

TEST(Companions, AreZeroInSamplesWithoutTokensAndNowhereInTheOthers) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::standard, 1, true}).run(0);
  const Companion* const companion = find(output, Phase::backward, "layer0.out");
  ASSERT_NE(companion, nullptr);
  const std::size_t part = companion->s2.size() / 4;
  for (std::size_t i = 0; i < companion->s2.size(); ++i) {
    const bool zero = output.records.values(Phase::backward, "layer0.out")[i] == 0;
    EXPECT_EQ(companion->s2[i] == 0, zero) << i;
    EXPECT_TRUE(zero || i < 3 * part) << i;  // the last of four samples has length 0
  }
  EXPECT_GT(companion->total, 0);
}

TEST(Companions, OfAKeyBiasGradientAreNotZero) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::standard, 1, true}).run(0);
  const Companion* const key = find(output, Phase::grad, "layer0.attn.k.bias");
  const Companion* const query = find(output, Phase::grad, "layer0.attn.q.bias");
  ASSERT_NE(key, nullptr);
  ASSERT_NE(query, nullptr);
  EXPECT_GT(key->total, 1e-3 * query->total);
}

TEST(Companions, CoverEveryRecordButTheExactOnesAndAdamwsState) {
  for (const OptimizerKind optimizer :
       {OptimizerKind::adamw, OptimizerKind::sgd, OptimizerKind::momentum}) {
    const Problem problem = three_groups(optimizer);
    const StepOutput output = Training(problem, {Level::all, 2, true}).run(0);
    for (const FilledRecord& filled : output.records.all()) {
      const Phase phase = filled.record.phase;
      const bool state =
          phase == Phase::param || phase == Phase::moment1 || phase == Phase::moment2;
      const bool expected = phase != Phase::exact && !(state && optimizer == OptimizerKind::adamw);
      EXPECT_EQ(find(output, phase, filled.record.name) != nullptr, expected)
          << phase_name(phase) << "/" << filled.record.name;
    }
  }
}

// Noise at step 0 changes SGD's parameters, so step 1 starts from deviating embeddings; AdamW's
// replicas start from the exact ones again.
TEST(Companions, OfSgdRunOnAndOfAdamwRestart) {
  for (const OptimizerKind optimizer : {OptimizerKind::adamw, OptimizerKind::sgd}) {
    const Problem problem = three_groups(optimizer);
    Training training(problem, {Level::all, 2, true});
    training.run(0);
    const StepOutput second = training.run(1);
    const Companion* const embedded = find(second, Phase::forward, "embed.token");
    ASSERT_NE(embedded, nullptr);
    EXPECT_EQ(embedded->total > 0, optimizer == OptimizerKind::sgd);
  }
}

// The noise of one step is a few u of FP32; a replica that is left behind would be off by lr g.
TEST(Companions, OfSgdsParametersAreOfTheSizeOfRounding) {
  for (const OptimizerKind optimizer : {OptimizerKind::sgd, OptimizerKind::momentum}) {
    const Problem problem = three_groups(optimizer);
    const StepOutput output = Training(problem, {Level::standard, 2, true}).run(0);
    const Companion* const companion = find(output, Phase::param, "layer0.mlp.up.weight");
    ASSERT_NE(companion, nullptr);
    const auto values = output.records.values(Phase::param, "layer0.mlp.up.weight");
    const Eigen::Map<const Row> row(values.data(), static_cast<Eigen::Index>(values.size()));
    const double rms = row.norm() / std::sqrt(static_cast<double>(values.size()));
    EXPECT_GT(std::sqrt(companion->total), 0.1 * 0x1p-24 * rms);
    EXPECT_LT(std::sqrt(companion->total), 10 * 0x1p-24 * rms);
  }
}

}  // namespace
}  // namespace meshparity::reference
