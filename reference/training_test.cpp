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

TEST(Training, RecordsTheExactRunOfEachSample) {
  const Problem problem = micro_problem();
  const StepOutput output = Training(problem, {Level::all, 1, true}).run(0);
  const Weights weights = make_weights(initial_state(problem.network.parameters(), 1));
  const Sample sample = make_sample(problem.model(), problem.inputs, problem.dropout(0), 2);
  Rounding exact = Rounding::exact();
  SampleWork work(problem.model());
  problem.network.forward(weights, sample, exact, work);

  const auto logits = output.records.values(Phase::forward, "logits");
  const std::span<const double> expected(work.values.logits.data(), 5 * 13);
  EXPECT_TRUE(same_bits(logits.subspan(2 * 5 * 13, 5 * 13), expected));
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

// With beta1 = beta2 = 0 and no epsilon, AdamW moves by lr sign(g); the rest is decay.
TEST(Training, OnlyMatricesDecay) {
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.beta1 = model.beta2 = model.adam_epsilon = 0;
  model.weight_decay = 100;  // times lr 1e-3: a tenth of the value
  const Problem problem(model, spec_of("gpt-micro"), nullptr);
  const State before = initial_state(problem.network.parameters(), 1);
  Training training(problem, {Level::standard, 1, false});
  training.run(0);
  for (const auto& [name, decays] :
       {std::pair("layer0.mlp.up.weight", true), std::pair("layer0.mlp.up.bias", false),
        std::pair("layer0.norm1.weight", false), std::pair("embed.weight", true)}) {
    const std::size_t i = place_of(problem.network.parameters(), name);
    const double kept = decays ? 1 - model.learning_rate * 100 : 1;
    const Matrix moved = training.state().parameters[i] - kept * before.parameters[i];
    EXPECT_LE(moved.cwiseAbs().maxCoeff(), 1.0001 * model.learning_rate) << name;
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
    Training resumed(problem, {Level::standard, 1, false}, {state, {}});

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
