// Whole steps of the micro model: records, companions, threads, restarts.
#include "reference/training.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fixtures/scratch_folder.hpp"
#include "reference/micro_case.hpp"
#include "reference/run_job.hpp"

namespace meshparity::reference {
namespace {

bool same_bits(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void expect_same_bits(const StepOutput& a, const StepOutput& b) {
  ASSERT_EQ(a.records.all().size(), b.records.all().size());
  for (std::size_t i = 0; i < a.records.all().size(); ++i) {
    EXPECT_TRUE(same_bits(a.records.all()[i].values, b.records.all()[i].values))
        << a.records.all()[i].record.name;
  }
  ASSERT_EQ(a.companions.size(), b.companions.size());
  for (std::size_t i = 0; i < a.companions.size(); ++i) {
    EXPECT_EQ(a.companions[i].s2, b.companions[i].s2) << a.companions[i].record;
    EXPECT_TRUE(same_bits(a.companions[i].g, b.companions[i].g)) << a.companions[i].record;
    EXPECT_EQ(a.companions[i].effective, b.companions[i].effective) << a.companions[i].record;
  }
}

const Companion* find(const StepOutput& output, Phase phase, const std::string& record) {
  for (const Companion& companion : output.companions) {
    if (companion.phase == phase && companion.record == record) {
      return &companion;
    }
  }
  return nullptr;
}

/// A batch of three groups of samples.
Problem three_groups(OptimizerKind optimizer) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.global_batch = 10;
  CaseSpec spec = spec_of("gpt-micro");
  spec.optimizer = optimizer;
  return Problem(model, spec, nullptr);
}

TEST(Training, OneTwoAndThreeThreadsGiveTheSameBits) {
  const Problem problem = three_groups(OptimizerKind::momentum);
  Training one(problem, {Level::all, 1, true});
  Training two(problem, {Level::all, 2, true});
  Training three(problem, {Level::all, 3, true});
  for (int step = 0; step < 2; ++step) {
    const StepOutput expected = one.run(step);
    expect_same_bits(expected, two.run(step));
    expect_same_bits(expected, three.run(step));
  }
}

TEST(Training, CompanionsDoNotTouchTheExactRun) {
  const Problem problem = micro_problem();
  const StepOutput alone = Training(problem, {Level::all, 1, false}).run(0);
  const StepOutput beside = Training(problem, {Level::all, 1, true}).run(0);
  ASSERT_EQ(alone.records.all().size(), beside.records.all().size());
  for (std::size_t i = 0; i < alone.records.all().size(); ++i) {
    EXPECT_TRUE(same_bits(alone.records.all()[i].values, beside.records.all()[i].values));
  }
  EXPECT_TRUE(alone.companions.empty());
}

TEST(Training, TheLossIsTheMeanOverTheTokensThatCount) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::all, 1, false}).run(0);
  const auto losses = output.records.values(Phase::loss, "loss.token");
  double sum = 0;
  double count = 0;
  for (int sample = 0; sample < 4; ++sample) {
    for (int p = 0; p < 5; ++p) {
      const bool counts =
          p < problem.inputs.length(0, sample) && problem.inputs.mask_bit(0, sample, p);
      const double loss = losses[static_cast<std::size_t>(sample * 5 + p)];
      EXPECT_EQ(loss > 0, counts);
      sum += loss;
      count += counts ? 1 : 0;
    }
  }
  EXPECT_EQ(output.records.values(Phase::scalar, "token_count")[0], count);
  EXPECT_LE(std::abs(output.records.values(Phase::loss, "loss")[0] - sum / count), 1e-15 * sum);
}

TEST(Training, WithoutAnyTokenTheStepIsTakenWithZeroGradients) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.global_batch = 1;  // with ragged masks the last eighth has no token: all of this batch
  const Problem problem(model, spec_of("gpt-micro"), nullptr);
  ASSERT_EQ(problem.inputs.length(0, 0), 0);
  Training training(problem, {Level::standard, 1, true});

  const StepOutput output = training.run(0);

  EXPECT_EQ(output.records.values(Phase::scalar, "token_count")[0], 0);
  EXPECT_EQ(output.records.values(Phase::loss, "loss")[0], 0);
  EXPECT_EQ(output.records.values(Phase::scalar, "grad_norm")[0], 0);
  EXPECT_EQ(output.records.values(Phase::scalar, "clip_coef")[0], 1);
  EXPECT_EQ(training.state().steps_taken, 1);
  const Companion* const gradient = find(output, Phase::grad, "embed.weight");
  ASSERT_NE(gradient, nullptr);
  EXPECT_EQ(gradient->total, 0);
}

TEST(Training, TiedWeightsHaveTwoGradientsAndOneValue) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::standard, 1, false}).run(0);
  const StepRecords& records = output.records;
  const auto embedding = records.values(Phase::grad, "embed.weight");
  const auto head = records.values(Phase::grad, "head.weight");
  EXPECT_FALSE(same_bits(embedding, head));
  for (const Phase phase : {Phase::param, Phase::moment1, Phase::moment2}) {
    EXPECT_TRUE(
        same_bits(records.values(phase, "embed.weight"), records.values(phase, "head.weight")));
  }
  // The first moment after the first step is (1 - b1) times the clipped sum of the two.
  const double coefficient = records.values(Phase::scalar, "clip_coef")[0];
  const auto moment = records.values(Phase::moment1, "embed.weight");
  for (std::size_t i = 0; i < moment.size(); ++i) {
    const double expected = (1 - problem.model().beta1) * coefficient * (embedding[i] + head[i]);
    EXPECT_LE(std::abs(moment[i] - expected), 1e-14 * std::abs(expected)) << i;
  }
}

TEST(Training, TheNormCountsATiedWeightOnce) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::standard, 1, false}).run(0);
  double squares = 0;
  for (const ParamSpec& param : problem.network.parameters()) {
    const auto gradient = output.records.values(Phase::grad, param.name);
    const auto head = output.records.values(Phase::grad, "head.weight");
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double sum = gradient[i] + (param.name == "embed.weight" ? head[i] : 0);
      squares += param.name == "head.weight" ? 0 : sum * sum;
    }
  }
  const double norm = output.records.values(Phase::scalar, "grad_norm")[0];
  EXPECT_LE(std::abs(norm - std::sqrt(squares)), 1e-14 * norm);
}

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

Job job_into(const ScratchFolder& folder, const std::string& case_id) {
  Job job;
  job.case_id = case_id;
  job.out = folder.path();
  job.models = MESHPARITY_MODELS;
  job.commit = "a test";
  return job;
}

TEST(State, TrainingGoesOnFromADumpBitForBit) {
  for (const std::string optimizer : {"plain", "sgd", "momentum"}) {
    const ScratchFolder folder;
    const std::string id = "gpt-micro.single." + optimizer + ".fp64.host-threads";
    run_job(job_into(folder, id), 1);
    const DumpReader dump(folder.path() / "rank_0000.h5");
    const Problem problem = problem_of(parse_case(id));
    const State state = read_state(dump, problem.network.parameters(), problem.spec.optimizer, 0);
    Training resumed(problem, {Level::standard, 1, false}, state);

    resumed.run(1);
    resumed.run(2);

    const State straight =
        read_state(dump, problem.network.parameters(), problem.spec.optimizer, 2);
    EXPECT_EQ(resumed.state().steps_taken, 3);
    EXPECT_EQ(straight.steps_taken, 3);
    EXPECT_EQ(resumed.state().parameters, straight.parameters) << optimizer;
    EXPECT_EQ(resumed.state().moment1, straight.moment1) << optimizer;
    EXPECT_EQ(resumed.state().moment2, straight.moment2) << optimizer;
    EXPECT_NE(state.parameters, straight.parameters) << optimizer;
  }
}

}  // namespace
}  // namespace meshparity::reference
