// Versions of an asynchronous pipeline, against stages that work off their lists one event after
// the other, and what a training does with them.
#include "reference/weight_versions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "fixtures/error.hpp"
#include "fixtures/step_place.hpp"
#include "reference/micro_case.hpp"
#include "reference/training.hpp"

namespace meshparity::reference {
namespace {

using testing::Each;
using testing::ElementsAre;

CaseSpec pipeline(const std::string& mesh, const std::string& features) {
  return parse_case("llama-micro." + mesh + "." + features + ".fp64.host-threads");
}

std::vector<ParamSpec> table_of(const std::vector<std::string>& names) {
  std::vector<ParamSpec> table;
  for (const std::string& name : names) {
    table.push_back({});
    table.back().name = name;
  }
  return table;
}

// Six blocks: 8 pieces on three stages are 3 3 2, embedding first, head last.
TEST(WeightVersions, StagesHoldConsecutivePieces) {
  const std::vector<ParamSpec> table =
      table_of({"embed.weight", "embed.position", "layer0.norm1.weight", "layer1.attn.q.weight",
                "layer2.norm1.bias", "layer4.mlp.up.weight", "layer5.norm1.weight",
                "final_norm.weight", "head.weight"});
  EXPECT_THAT(stages_of(table, 6, pipeline("pp3", "pipedream-mb5")),
              ElementsAre(0, 0, 0, 0, 1, 1, 2, 2, 2));
  EXPECT_THAT(stages_of(table, 6, pipeline("pp3", "pipedream-mb5-split1_1_6")),
              ElementsAre(0, 0, 1, 2, 2, 2, 2, 2, 2));
  EXPECT_THAT(stages_of(table, 6, pipeline("single", "plain")), Each(0));
}

/// Updates that a stage of p has made when it begins the forward pass of each micro-batch: its list
/// is p - 1 - s forward passes, then one of each in turn, then the backward passes that are left.
std::vector<int> updates_before_forward(int p, int stage, int count) {
  std::vector<int> updates(static_cast<std::size_t>(count));
  const int ahead = std::min(p - 1 - stage, count);
  int done = 0;
  for (int j = 0; j < count; ++j) {
    updates[static_cast<std::size_t>(j)] = done;
    done += j < ahead ? 0 : 1;
  }
  return updates;
}

TEST(WeightVersions, OfPipedreamAreTheNewestWhenAForwardPassBegins) {
  for (const int p : {2, 3, 5, 8}) {
    CaseSpec spec = pipeline("pp2", "pipedream-mb4");
    spec.mesh.set_degree(Axis::pp, p);
    CaseSpec vertical = spec;
    vertical.schedule = Schedule::pipedream_vsync;
    const std::vector<int> first = updates_before_forward(p, 0, 20);
    for (int stage = 0; stage < p; ++stage) {
      const std::vector<int> own = updates_before_forward(p, stage, 20);
      for (int step = 0; step < 20; ++step) {
        const auto at = static_cast<std::size_t>(step);
        EXPECT_EQ(version_used(spec, stage, step), own[at]) << p << " " << stage << " " << step;
        EXPECT_EQ(version_used(vertical, stage, step), first[at]) << p << " " << step;
      }
    }
  }
}

TEST(WeightVersions, OfTwoBuffersAreOneBatchOld) {
  const CaseSpec spec = pipeline("pp3", "pipedream_2bw-mb4");
  for (const int stage : {0, 2}) {
    EXPECT_EQ(version_used(spec, stage, 0), 0);
    EXPECT_EQ(version_used(spec, stage, 1), 0);
    EXPECT_EQ(version_used(spec, stage, 5), 4);
  }
  EXPECT_EQ(version_used(pipeline("pp2", "1f1b-mb4"), 0, 5), 5);
}

Versions numbered(double newest) {
  State state;
  state.parameters.assign(3, Matrix::Constant(1, 1, newest));
  return {state, {}};
}

// Three stages with a parameter each: step 4 reads versions 2, 3 and 4.
TEST(WeightVersions, AreKeptAsLongAsAStepReadsThem) {
  const CaseSpec spec = pipeline("pp3", "pipedream-mb5");
  Versions versions = numbered(0);
  for (int step = 0; step < 4; ++step) {
    keep_version(spec, step, versions);
    versions.newest.parameters.assign(3, Matrix::Constant(1, 1, step + 1));
  }
  const State read = state_read(spec, {0, 1, 2}, 4, versions);
  EXPECT_EQ(read.parameters[0](0, 0), 2);
  EXPECT_EQ(read.parameters[1](0, 0), 3);
  EXPECT_EQ(read.parameters[2](0, 0), 4);
  EXPECT_EQ(versions.past.size(), 2U);
  EXPECT_EQ(versions.newest.parameters[0](0, 0), 4);
  EXPECT_THROW(state_read(spec, {0, 1, 2}, 7, versions), Error);
}

/// A training, and its state after each step, the initial one first.
class Trained {
 public:
  explicit Trained(const CaseSpec& spec) : problem_(problem_of(spec)), training_(problem_, {}) {
    all_.push_back(training_.state());
    for (int step = 0; step < step_count(spec); ++step) {
      outputs_.push_back(training_.run(step));
      all_.push_back(training_.state());
    }
  }
  const Problem& problem() const { return problem_; }
  const State& after(int updates) const { return all_[static_cast<std::size_t>(updates)]; }
  std::vector<double> values(int step, Phase phase, const std::string& name) const {
    const auto held = outputs_[static_cast<std::size_t>(step)].records.values(phase, name);
    return {held.begin(), held.end()};
  }
  /// Sum of all token losses of a step.
  double loss(int step) const {
    const std::vector<double> losses = values(step, Phase::loss, "loss.token");
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

 private:
  Problem problem_;
  Training training_;
  std::vector<State> all_;
  std::vector<StepOutput> outputs_;
};

/// The network alone, on one sample, with weights of which the first stage's are older.
double loss_with(const Trained& run, int step, int first_stage, int second_stage) {
  const Problem& problem = run.problem();
  State mixed = run.after(second_stage);
  const std::vector<int> stages = problem.stages_of_parameters();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (stages[i] == 0) {
      mixed.parameters[i] = run.after(first_stage).parameters[i];
    }
  }
  const int parts = problem.spec.micro_batches;
  const Sample sample =
      make_sample(problem.model(), problem.inputs, problem.dropout(step), step % parts);
  SampleWork work(problem.model());
  Rounding exact = Rounding::exact();
  problem.network.forward(make_weights(mixed), sample, exact, work);
  return work.values.loss_token.sum();
}

// Micro-batch 2 of batch 1 is step 6: the last stage has all 6 updates, the first 5.
TEST(Pipedream, AStepIsAMicroBatchWithTheFirstStagesOlderWeights) {
  const Trained run(pipeline("pp2", "pipedream-mb4-sgd-clip_off-steps2"));
  const double sum = run.loss(6);
  EXPECT_EQ(run.values(6, Phase::loss, "loss.token").size(), 5U);
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(sum, loss_with(run, 6, 5, 6), 1e-12 * sum);
  EXPECT_GT(std::abs(sum - loss_with(run, 6, 6, 6)), 1e-6 * sum);
  EXPECT_GT(std::abs(sum - loss_with(run, 6, 5, 5)), 1e-6 * sum);
  EXPECT_THAT(run.values(6, Phase::exact, "version"), ElementsAre(5, 6));
  EXPECT_THAT(run.values(6, Phase::exact, "sample_ids"), ElementsAre(6));
  EXPECT_THAT(run.values(6, Phase::exact, "step_count"), ElementsAre(7));
}

TEST(Pipedream, AnUpdateIsTheNewestWeightsWithTheStaleGradient) {
  for (const char* schedule : {"pipedream", "pipedream_vsync", "pipedream_2bw"}) {
    const Trained run(pipeline("pp2", std::string(schedule) + "-mb4-sgd-clip_off"));
    const double rate = run.problem().learning_rate();
    const std::size_t place = place_of(run.problem().network.parameters(), "layer0.mlp.up.weight");
    const auto gradient = run.values(2, Phase::grad, "layer0.mlp.up.weight");
    const Matrix& before = run.after(2).parameters[place];
    const Matrix& after = run.after(3).parameters[place];
    for (Eigen::Index i = 0; i < before.size(); ++i) {
      EXPECT_DOUBLE_EQ(after.data()[i],
                       before.data()[i] - rate * gradient[static_cast<std::size_t>(i)]);
    }
  }
}

// Only the second of two stages ever moves apart from its vertically synchronised version.
TEST(Pipedream, VerticalSyncUsesTheFirstStagesVersionEverywhere) {
  const Trained run(pipeline("pp2", "pipedream_vsync-mb4-sgd-clip_off-steps2"));
  const double sum = run.loss(6);
  EXPECT_NEAR(sum, loss_with(run, 6, 5, 5), 1e-12 * sum);
}

// Sample 3 of 4 has no token: its micro-batch has loss 0 and gradient 0, and a step all the same.
TEST(Pipedream, AMicroBatchWithoutTokensTakesAnEmptyStep) {
  const Trained run(pipeline("pp2", "pipedream-mb4-sgd-clip_off-steps1"));
  EXPECT_THAT(run.values(3, Phase::scalar, "token_count"), ElementsAre(0));
  EXPECT_THAT(run.values(3, Phase::grad, "head.weight"), Each(0));
  EXPECT_THAT(run.values(3, Phase::exact, "step_count"), ElementsAre(4));
  EXPECT_EQ(run.after(4).parameters, run.after(3).parameters);
}

TEST(Pipedream, ReplicasShareAStep) {
  const Trained run(pipeline("dp2-pp2", "pipedream_vsync-mb2-sgd-clip_off-steps1"));
  EXPECT_THAT(run.values(1, Phase::exact, "sample_ids"), ElementsAre(1, 3));
  EXPECT_EQ(run.values(1, Phase::loss, "loss.token").size(), 10U);
}

}  // namespace
}  // namespace meshparity::reference
