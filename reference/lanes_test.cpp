// The lanes' own roundings, and that sums of native floats and runs which round as candidates do
// stay inside what the noisy replicas say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fixtures/companions.hpp"
#include "fixtures/random_words.hpp"
#include "fixtures/scratch_folder.hpp"
#include "reference/float_run.hpp"
#include "reference/linear.hpp"
#include "reference/micro_case.hpp"
#include "reference/run_job.hpp"
#include "reference/whole_margin.hpp"

namespace meshparity::reference {
namespace {

constexpr double kRelative = 0x1p-40;  // FP64 rounds the noise of 2^-11 and above by 2^-42 of it

TEST(Lanes, StorageOperandsAndWeightsErrWhereTheLaneSaysSo) {
  for (const Lane& lane : {kFp32Lane, kTf32Lane, kBf16Lane}) {
    Rounding rounding = Rounding::noisy(lane, {});
    Matrix stored = matrix({{3}});
    Matrix weight = matrix({{3}});
    Matrix copy;
    rounding.stored(stored);
    rounding.compute_copy(weight);
    const double operand = rounding.operand(matrix({{3}}), copy)(0, 0);
    const auto expect = [&](double y, double u) {
      EXPECT_NEAR(std::abs(y - 3), 3 * u / std::sqrt(3.0), 3 * u * kRelative) << lane.name;
    };
    expect(stored(0, 0), lane.storage);
    expect(weight(0, 0), lane.weight);
    expect(operand, lane.operand);
  }
}

// 2 x 5: each operand errs by u_m / sqrt 3 on its own, so the product by 0, 2 of them or none.
TEST(Lanes, BothFactorsOfAProductAreOperands) {
  const State state = {{matrix({{5}, {0}})}, {}, {}};
  std::vector<ParamSpec> table(1);
  const double unit = 10 * kTf32Lane.operand / std::sqrt(3.0);
  std::map<long, int> seen;
  for (int replica = 0; replica < 64; ++replica) {
    const Weights weights =
        make_noisy_weights(state, table, Rounding::noisy(kTf32Lane, {replica, 0, kWeights}));
    Rounding rounding = Rounding::noisy(kTf32Lane, {replica, 0, 0});
    Matrix y(1, 1);
    multiply(matrix({{2, 0}}), weights[0], rounding, y);
    ++seen[std::lround((y(0, 0) - 10) / unit)];
  }
  ASSERT_EQ(seen.size(), 3u);  // -2, 0, 2
  EXPECT_GE(std::min({seen[-2], seen[0], seen[2]}), 5);
}

TEST(Lanes, AComputeCopyIsTheSameForwardAndBackwardAndForTiedWeights) {
  const Problem problem = problem_of(spec_of("mixed-micro"));
  const std::vector<ParamSpec>& table = problem.network.parameters();
  const State state = initial_state(table, 1);
  const Weights weights =
      make_noisy_weights(state, table, Rounding::noisy(kBf16Lane, {4, 2, kWeights}));
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_NE(weights[i].value, state.parameters[i]) << table[i].name;
    EXPECT_EQ(&weights[i].in_product(), &weights[i].value) << table[i].name;
    EXPECT_EQ(&weights[i].in_transposed_product(), &weights[i].value) << table[i].name;
  }
  EXPECT_EQ(weights[place_of(table, "head.weight")].value,
            weights[place_of(table, "embed.weight")].value);
}

TEST(Lanes, EachPrecisionHasItsCompanionsFile) {
  for (const auto& [precision, lane] : {std::pair("fp64", "fp32"), std::pair("fp32", "fp32"),
                                        std::pair("tf32", "tf32"), std::pair("bf16", "bf16")}) {
    const ScratchFolder folder;
    Job job;
    job.case_id = std::string("llama-micro.single.steps1.") + precision + ".host-threads";
    job.out = folder.path();
    job.models = MESHPARITY_MODELS;
    job.companions = true;
    run_job(job, 2);
    EXPECT_EQ(CompanionReader(folder / ("companions_" + std::string(lane) + ".h5")).lane(), lane);
  }
}

std::vector<float> random_floats(std::uint64_t first, int count, bool one_signed) {
  const WordStream words = {5, 0, 0, WordOp::initial_value};
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const double u = words.word(first + static_cast<std::uint64_t>(i)) * 0x1p-32;
    values.push_back(static_cast<float>(one_signed ? u : 2 * u - 1));
  }
  return values;
}

/// In float, over `parts` equal shares of the terms whose sums are added in order.
float float_dot(const std::vector<float>& a, const std::vector<float>& b,
                const std::vector<std::size_t>& order, std::size_t parts) {
  float total = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    float sum = 0;
    for (std::size_t i = part * order.size() / parts; i < (part + 1) * order.size() / parts; ++i) {
      const float product = a[order[i]] * b[order[i]];
      sum += product;
    }
    total += sum;
  }
  return total;
}

// sigma of class a covers native sums in any order and split: the ratio that bounds.md §2.1
// measured is 0.6 in one piece, less in several.
TEST(NativeFloat, SumsInAnyOrderAndSplitErrByAboutSigma) {
  constexpr int kTerms = 264;
  for (const bool one_signed : {false, true}) {
    for (const std::size_t parts : {1, 3, 8}) {
      double squares = 0;
      for (std::uint64_t trial = 0; trial < 200; ++trial) {
        const std::vector<float> a = random_floats(trial << 20, kTerms, one_signed);
        const std::vector<float> b = random_floats((trial << 20) + 9999, kTerms, one_signed);
        std::vector<std::size_t> order(kTerms);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
          return (i * 7919 + trial) % 263 < (j * 7919 + trial) % 263;
        });
        const Eigen::VectorXd left =
            Eigen::Map<const Eigen::VectorXf>(a.data(), kTerms).cast<double>();
        const Eigen::VectorXd right =
            Eigen::Map<const Eigen::VectorXf>(b.data(), kTerms).cast<double>();
        const double exact = left.dot(right);
        Matrix noisy = matrix({{exact}});
        Rounding::noisy(kFp32Lane, {})
            .product(noisy, Column::Constant(1, left.squaredNorm()),
                     Row::Constant(1, right.squaredNorm()), kTerms);
        const double ratio = (float_dot(a, b, order, parts) - exact) / (noisy(0, 0) - exact);
        squares += ratio * ratio / 200;
      }
      EXPECT_LE(std::sqrt(squares), 1.1) << one_signed << parts;
      EXPECT_GE(std::sqrt(squares), 0.1) << one_signed << parts;
    }
  }
}

class RoundedRun : public testing::TestWithParam<std::tuple<const char*, Precision>> {};

bool is_limited(const RecordSpec& record) {
  return record.phase != Phase::exact && record.phase != Phase::margin;
}

// Divided by 100, every limit of a matrix would be broken: no limit is that generous.
TEST_P(RoundedRun, StaysInsideTheLimitsAndNotFarInside) {
  const auto& [model, precision] = GetParam();
  const Problem problem = problem_of(spec_of(model));
  const StepOutput reference = Training(problem, {Level::all, 2, true, lane_of(precision)}).run(0);
  const StepRecords candidate = FloatRun(problem, precision, Level::all, {3, 5}).run(0);
  int limited = 0;
  for (const FilledRecord& filled : reference.records.all()) {
    const RecordSpec& record = filled.record;
    const Companion* const companion = find(reference, record.phase, record.name);
    if (companion == nullptr || !is_limited(record)) {
      continue;
    }
    const auto values = candidate.values(record.phase, record.name);
    if (companion->total == 0) {
      EXPECT_TRUE(std::equal(values.begin(), values.end(), filled.values.begin())) << record.name;
      continue;
    }
    ++limited;
    const double used = whole_margin(values, filled.values, *companion);
    EXPECT_LE(used, 1) << phase_name(record.phase) << " " << record.name;
    const bool matrix = companion->effective > 8;
    EXPECT_GT(100 * used, matrix ? 1 : 0) << phase_name(record.phase) << " " << record.name;
  }
  EXPECT_GE(limited, 50);
}

INSTANTIATE_TEST_SUITE_P(
    ModelsAndLanes, RoundedRun,
    testing::Combine(testing::Values("gpt-micro", "llama-micro", "mixed-micro"),
                     testing::Values(Precision::fp32, Precision::tf32, Precision::bf16)),
    [](const auto& instance) {
      std::string name = std::string(std::get<0>(instance.param)) + "_";
      name += precision_name(std::get<1>(instance.param));
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

Lane scaled(Lane lane, double factor) {
  lane.elementwise *= factor;
  lane.accumulation *= factor;
  lane.operand *= factor;
  lane.storage *= factor;
  lane.weight *= factor;
  return lane;
}

// bounds.md §2.2: one set of the FP32 kind serves FP64, scaled. The same draws at 2^-8 of the size.
TEST(Linearity, SigmaFollowsUWithinOnePercentInEveryLane) {
  const Problem problem = problem_of(spec_of("llama-micro"));
  for (const Lane& lane : {kFp32Lane, kTf32Lane, kBf16Lane}) {
    const auto companions = [&](const Lane& of) {
      return Training(problem, {Level::standard, 2, true, of}).run(0).companions;
    };
    const std::vector<Companion> full = companions(lane);
    const std::vector<Companion> small = companions(scaled(lane, 0x1p-8));
    ASSERT_EQ(full.size(), small.size());
    for (std::size_t i = 0; i < full.size(); ++i) {
      if (full[i].total > 0) {
        const double ratio = 0x1p8 * std::sqrt(small[i].total / full[i].total);
        EXPECT_NEAR(ratio, 1, full[i].effective > 8 ? 0.01 : 0.05)
            << lane.name << " " << phase_name(full[i].phase) << " " << full[i].record;
      }
    }
  }
}

}  // namespace
}  // namespace meshparity::reference
