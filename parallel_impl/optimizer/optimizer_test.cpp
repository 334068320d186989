#include "parallel_impl/optimizer/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "parallel_impl/backend/host_backend.hpp"

namespace meshparity {
namespace {

using State = OptimizerState<double>;

/// Of parameter `index`; null where the optimizer keeps none.
const double* kept(const Optimizer<double>& optimizer, State::Kind kind, std::size_t index) {
  const double* found = nullptr;
  optimizer.visit_state([&](const State& state) {
    found = state.keeps(kind) ? state.at(kind, optimizer.place(index)) : nullptr;
  });
  return found;
}
const double* moment1(const Optimizer<double>& optimizer, std::size_t index) {
  return kept(optimizer, &State::Part::moment1, index);
}
const double* moment2(const Optimizer<double>& optimizer, std::size_t index) {
  return kept(optimizer, &State::Part::moment2, index);
}

struct Problem {
  explicit Problem(OptimizerKind kind) {
    spec.optimizer = kind;
    model.learning_rate = 1e-3;
    model.beta1 = 0.9;
    model.beta2 = 0.999;
    model.adam_epsilon = 1e-8;
    model.weight_decay = 0.01;
    model.sgd_learning_rate = 0.1;
    model.momentum = 0.9;
    for (Param<double>& param : params.all()) {
      for (int at = 0; at < param.count(); ++at) {
        param.grad[at] = 4;
      }
    }
  }
  double& value(const char* name) { return params.at(name).value[0]; }

  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  CaseSpec spec;
  std::unique_ptr<Backend<double>> backend = make_host_backend<double>();
  Parameters<double> params{model, Mesh(spec, 0), 1, *backend};
};

TEST(Optimizer, AdamWStepsByTheLearningRateAndDecaysMatricesOnly) {
  Problem problem(OptimizerKind::adamw);
  const double weight = problem.value("layer0.mlp.up.weight");
  const double bias = problem.value("layer0.mlp.up.bias");
  Optimizer<double> optimizer(problem.spec, problem.model, *problem.backend, problem.params);

  optimizer.step(0.5);

  // At t = 1 the corrected moments are g = 2 and g^2, so the step is lr * 2 / (2 + eps).
  const double step = 1e-3 * 2 / (2 + 1e-8);
  EXPECT_DOUBLE_EQ(problem.value("layer0.mlp.up.weight"), weight - 1e-3 * 0.01 * weight - step);
  EXPECT_DOUBLE_EQ(problem.value("layer0.mlp.up.bias"), bias - step);
  EXPECT_EQ(optimizer.steps_taken(), 1);
  EXPECT_EQ(optimizer.learning_rate(), 1e-3);
}

TEST(Optimizer, AdamWCorrectsTheMomentsByTheStepCount) {
  Problem problem(OptimizerKind::adamw);
  Optimizer<double> optimizer(problem.spec, problem.model, *problem.backend, problem.params);
  optimizer.step(1);
  const double after_one = problem.value("layer0.mlp.up.bias");

  optimizer.step(1);

  // The same gradient twice: corrected moments are g and g^2 again, to rounding.
  EXPECT_NEAR(problem.value("layer0.mlp.up.bias"), after_one - 1e-3 * 4 / (4 + 1e-8), 1e-15);
  EXPECT_NEAR(moment1(optimizer, 2)[0], 4 * (1 - 0.9 * 0.9), 1e-14);
  EXPECT_NEAR(moment2(optimizer, 2)[0], 16 * (1 - 0.999 * 0.999), 1e-14);
}

TEST(Optimizer, SgdAndMomentumUseTheirOwnLearningRate) {
  Problem plain(OptimizerKind::sgd);
  const double at = plain.value("final_norm.bias");
  Optimizer<double> sgd(plain.spec, plain.model, *plain.backend, plain.params);
  Problem heavy(OptimizerKind::momentum);
  Optimizer<double> momentum(heavy.spec, heavy.model, *heavy.backend, heavy.params);

  sgd.step(0.5);
  momentum.step(0.5);
  momentum.step(0.5);

  EXPECT_EQ(plain.value("final_norm.bias"), at - 0.1 * 2);
  // Momenta 2 and 0.9 * 2 + 2.
  EXPECT_DOUBLE_EQ(heavy.value("final_norm.bias"), at - 0.1 * 2 - 0.1 * 3.8);
  EXPECT_EQ(moment1(sgd, 0), nullptr);
  EXPECT_EQ(moment2(momentum, 0), nullptr);
  EXPECT_EQ(sgd.learning_rate(), 0.1);
}

TEST(Optimizer, ATiedWeightIsUpdatedOnceAndItsMomentsAreShared) {
  Problem problem(OptimizerKind::sgd);
  const double at = problem.value("embed.weight");
  Optimizer<double> optimizer(problem.spec, problem.model, *problem.backend, problem.params);
  Problem with_moments(OptimizerKind::adamw);
  const Optimizer<double> adamw(with_moments.spec, with_moments.model, *with_moments.backend,
                                with_moments.params);
  const std::size_t head = with_moments.params.all().size() - 1;

  optimizer.step(1);

  EXPECT_EQ(problem.value("embed.weight"), at - 0.1 * 4);
  EXPECT_EQ(with_moments.params.all()[head].spec.name, "head.weight");
  EXPECT_EQ(moment1(adamw, head), moment1(adamw, 0));
}

/// A master in double after a step, and the parameter beside it.
struct MasterAndCopy {
  double before = 0;  // of both
  double master = 0;
  float copy = 0;
};

/// One step of AdamW with rate 1e-3 and gradient 4, of one element.
MasterAndCopy after_a_step(Precision precision) {
  CaseSpec spec;
  spec.master64 = true;
  spec.precision = precision;
  ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  model.learning_rate = 1e-3;
  model.weight_decay = 0;
  const auto backend = make_host_backend<float>();
  Parameters<float> params(model, Mesh(spec, 0), 1, *backend);
  const std::size_t bias =
      static_cast<std::size_t>(&params.at("final_norm.bias") - params.all().data());
  const Param<float>& param = params.all()[bias];
  MasterAndCopy after = {param.value[0]};
  param.grad[0] = 4;
  Optimizer<float> optimizer(spec, model, *backend, params);
  optimizer.step(1);
  after.copy = param.value[0];
  optimizer.visit_state([&](const auto& state) {
    if constexpr (std::is_same_v<decltype(state), const OptimizerState<double>&>) {
      after.master = *state.at(&OptimizerState<double>::Part::master, optimizer.place(bias));
    } else {
      ADD_FAILURE() << "no masters in double";
    }
  });
  return after;
}

// In double 1 - 1e-3 * 4 / (4 + 1e-8) moves by 1e-3; the copy is that, rounded to float once.
TEST(Optimizer, WithMastersAFloatParameterIsItsMasterRounded) {
  const MasterAndCopy after = after_a_step(Precision::fp32);

  EXPECT_DOUBLE_EQ(after.master, after.before - 1e-3 * 4 / (4 + 1e-8));
  EXPECT_EQ(after.copy, static_cast<float>(after.master));
  EXPECT_NE(static_cast<double>(after.copy), after.master);
}

TEST(Optimizer, WithMastersAShortParameterIsItsMasterRoundedToBfloat16) {
  const MasterAndCopy after = after_a_step(Precision::bf16);

  EXPECT_DOUBLE_EQ(after.master, after.before - 1e-3 * 4 / (4 + 1e-8));
  const int step = std::ilogb(after.master) - 7;  // 8 bits
  EXPECT_EQ(after.copy, std::ldexp(std::nearbyint(std::ldexp(after.master, -step)), step));
  EXPECT_NE(after.copy, static_cast<float>(after.master));
}

}  // namespace
}  // namespace meshparity
