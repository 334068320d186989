// Real programs end to end: every step of AdamW is judged, and a candidate's dump that is altered
// by hand, as a wrong optimizer would have left it, is found by its law or at the next step.
#include <gmock/gmock.h>

#include <cmath>

#include "fixtures/model_spec.hpp"
#include "matrix/cli/clean_run.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

constexpr const char* kCase = "gpt-micro.single.plain.fp64.host-threads";
constexpr const char* kBias = "layer0.mlp.up.bias";  // does not decay

/// The last update of kBias made by another formula.
Ran compare_updated(const CleanRun& run, const std::string& name,
                    const std::function<double(double, double, double)>& formula) {
  const DumpReader clean = run.reader();
  const Values theta = record_of(clean, 1, Phase::param, kBias);
  const Values m = record_of(clean, 2, Phase::moment1, kBias);
  const Values v = record_of(clean, 2, Phase::moment2, kBias);
  return run.compare_altered(name, [&](const Piece& piece, Values& values) {
    for (std::size_t i = 0; is(piece, 2, Phase::param, kBias) && i < values.size(); ++i) {
      values[i] = formula(theta[i], m[i], v[i]);
    }
  });
}

TEST(AlteredCandidates, EveryStepOfACleanOneIsJudgedByNoiseAndByLaw) {
  const CleanRun run(kCase);
  auto steps = run.judged_steps();
  const std::set<int> all = {0, 1, 2};
  for (const char* kind : {"forward", "loss", "backward", "grad", "scalar", "law loss",
                           "law scalar", "law moment1", "law moment2", "law param"}) {
    EXPECT_EQ(steps[kind], all) << kind;
  }
  EXPECT_EQ(run.compare(run.dump()).exit, 0);
  EXPECT_EQ(run.compare_altered("copied", [](const Piece&, Values&) {}).exit, 0);
}

TEST(AlteredCandidates, AWrongUpdateIsFoundByItsLaw) {
  const CleanRun run(kCase);
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const double lr = model.learning_rate;
  const double eps = model.adam_epsilon;
  const double c1 = 1 - std::pow(model.beta1, 3);
  const double c2 = 1 - std::pow(model.beta2, 3);
  const auto expect_found = [&](const std::string& name,
                                const std::function<double(double, double, double)>& formula) {
    const Ran ran = compare_updated(run, name, formula);
    EXPECT_EQ(ran.exit, 1) << name << ran.out;
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("param {} step 2", kBias))) << name;
  };
  expect_found("eps-in-root", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / std::sqrt(v / c2 + eps);
  });
  expect_found("eps-squared", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / std::sqrt(v / c2 + eps * eps);
  });
  expect_found("eps-early", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / ((std::sqrt(v) + eps) / std::sqrt(c2));
  });
  expect_found("skipped", [](double theta, double, double) { return theta; });
  expect_found("nan", [](double, double, double) { return std::nan(""); });
  const Ran right = compare_updated(run, "right", [=](double theta, double m, double v) {
    return theta - lr * (m / c1) / (std::sqrt(v / c2) + eps);
  });
  EXPECT_EQ(right.exit, 0) << right.out;
}

TEST(AlteredCandidates, AWrongClipIsFoundByItsLaw) {
  const CleanRun run(kCase);
  const Ran coefficient =
      run.compare_altered("coefficient", [](const Piece& piece, Values& values) {
        values[0] *= is(piece, 1, Phase::scalar, "clip_coef") ? 1 + 1e-9 : 1;
      });
  double squares = 0;
  for (const double g : record_of(run.reader(), 1, Phase::grad, "layer0.norm2.bias")) {
    squares += g * g;
  }
  const Ran norm = run.compare_altered("norm", [=](const Piece& piece, Values& values) {
    if (is(piece, 1, Phase::scalar, "grad_norm")) {
      values[0] = std::sqrt(values[0] * values[0] + squares);
    }
  });

  EXPECT_EQ(coefficient.exit, 1);
  EXPECT_THAT(coefficient.out, HasSubstr("law clip_coefficient: error"));
  EXPECT_EQ(norm.exit, 1);
  EXPECT_THAT(norm.out, HasSubstr("law clip_norm: error"));
}

// The dump says that the weight moved in step 0; had step 1 used it, its forward pass would have
// been another.
TEST(AlteredCandidates, AStaleWeightIsFoundAtTheNextStep) {
  const CleanRun run(kCase);
  const std::string record = "layer0.attn.out.weight";

  const Ran ran = run.compare_altered("stale", [&](const Piece& piece, Values& values) {
    if (is(piece, 0, Phase::param, record)) {
      for (double& value : values) {
        value += 1e-3;  // one more step of Adam
      }
    }
  });

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("forward layer0.attn.out step 1"));
}

}  // namespace
}  // namespace meshparity
