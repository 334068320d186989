// Laws asked of whole dumps: a clean one keeps them all; altered by hand it breaks the laws that it
// should, and no others.
#include "reference/laws/laws_of_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/micro_case.hpp"
#include "reference/rebase_case.hpp"

namespace meshparity::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LawsOfStep, ACleanCandidateKeepsEveryLaw) {
  for (const std::string features :
       {"plain", "sgd", "momentum", "clip_off", "drop0-maskfull", "lscale"}) {
    const RebaseCase made(id_of(features));
    const auto rebased = made.rebase("own", made.clean());

    EXPECT_THAT(broken(rebased, made.clean()), IsEmpty()) << features;
  }
}

TEST(LawsOfStep, ALossThatIsAMeanOfMeansHasItsLaw) {
  for (const std::string features : {"mb2-loss_mbmean", "mb2-loss_legacy"}) {
    const RebaseCase made(id_of(features));
    EXPECT_THAT(broken(made.rebase("own", made.clean()), made.clean()), IsEmpty()) << features;
    EXPECT_THAT(broken_by(features,
                          [](const Piece& piece, Values& values) {
                            values[0] *= is(piece, 1, Phase::loss, "loss") ? 1 + 1e-14 : 1;
                            return true;
                          }),
                ElementsAre("loss_sum loss step 1"))
        << features;
  }
}

TEST(LawsOfStep, InASkippedStepNothingMayMove) {
  const auto names = broken_by("lscale", [](const Piece& piece, Values& values) {
    if (is(piece, 1, Phase::moment1, "layer0.norm1.bias")) {
      values[0] = std::nextafter(values[0], 1);
    }
    return true;
  });

  EXPECT_TRUE(names.contains("moment1 layer0.norm1.bias step 1"));
}

TEST(LawsOfStep, EveryStepIsAskedEveryLaw) {
  const std::size_t params = micro_problem().network.parameters().size();
  for (const auto& [features, of_parameter] :
       {std::pair("plain", 3u), std::pair("momentum", 2u), std::pair("sgd", 1u)}) {
    const RebaseCase made(id_of(features));
    const DumpReader rebased(made.rebase("own", made.clean()));
    std::set<std::string> different;
    for (const LawRow& law : rebased.laws()) {
      EXPECT_EQ(law.missing, "") << law.law << " " << law.record;
      EXPECT_NE(law.derivation, "");
      different.insert(law.law + law.record + std::to_string(law.step));
    }
    EXPECT_EQ(different.size(), 3 * (3 + of_parameter * params)) << features;
  }
}

// The names of the laws that speak of a record's own value.
TEST(LawsOfStep, ANumberOffInItsLastDigitsBreaksItsLaw) {
  const auto off = [](Phase phase, const std::string& record, double relative) {
    return broken_by("plain", [=](const Piece& piece, Values& values) {
      if (is(piece, 2, phase, record)) {
        values.back() *= 1 + relative;
      }
      return true;
    });
  };
  EXPECT_THAT(off(Phase::loss, "loss", 1e-14), ElementsAre("loss_sum loss step 2"));
  EXPECT_THAT(off(Phase::param, "embed.weight", 1e-14), ElementsAre("update embed.weight step 2"));
  EXPECT_THAT(off(Phase::param, "embed.weight", 1e-17), IsEmpty());
}

/// Replaces one parameter's last update by another formula of (theta, m', v').
Edit wrong_update(const RebaseCase& made, const std::string& record,
                  const std::function<double(double theta, double m, double v)>& formula) {
  const DumpReader clean(made.clean());
  const Values theta = record_of(clean, 1, Phase::param, record).value();
  const Values m = record_of(clean, 2, Phase::moment1, record).value();
  const Values v = record_of(clean, 2, Phase::moment2, record).value();
  return [=](const Piece& piece, Values& values) {
    if (is(piece, 2, Phase::param, record)) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = formula(theta[i], m[i], v[i]);
      }
    }
    return true;
  };
}

TEST(LawsOfStep, EachWrongUpdateBreaksTheLawOfItsParameterAlone) {
  const RebaseCase made(id_of("plain"));
  const ModelSpec model = load_named_model(MESHPARITY_MODELS, "gpt-micro");
  const std::string record = "layer0.mlp.up.bias";  // does not decay
  const double lr = model.learning_rate;
  const double eps = model.adam_epsilon;
  const double c1 = 1 - std::pow(model.beta1, 3);
  const double c2 = 1 - std::pow(model.beta2, 3);
  const std::vector<std::pair<std::string, std::function<double(double, double, double)>>> wrong = {
      {"root-eps", [=](double theta, double m,
                       double v) { return theta - lr * (m / c1) / std::sqrt(v / c2 + eps); }},
      {"inside", [=](double theta, double m,
                     double v) { return theta - lr * (m / c1) / std::sqrt(v / c2 + eps * eps); }},
      {"early",
       [=](double theta, double m, double v) {
         return theta - lr * (m / c1) / ((std::sqrt(v) + eps) / std::sqrt(c2));
       }},
      {"skipped", [](double theta, double, double) { return theta; }},
      {"nan", [](double, double, double) { return std::nan(""); }},
  };
  for (const auto& [name, formula] : wrong) {
    const auto candidate = made.altered(name, wrong_update(made, record, formula));
    EXPECT_THAT(broken(made.rebase(name, candidate), candidate),
                ElementsAre("update " + record + " step 2"))
        << name;
  }
  const auto right =
      made.altered("right", wrong_update(made, record, [=](double theta, double m, double v) {
                     return theta - lr * (m / c1) / (std::sqrt(v / c2) + eps);
                   }));
  EXPECT_THAT(broken(made.rebase("right", right), right), IsEmpty());
}

TEST(LawsOfStep, AClipCoefficientOffByOneInABillionBreaksItsLaw) {
  const auto names = broken_by("plain", [](const Piece& piece, Values& values) {
    values[0] *= is(piece, 2, Phase::scalar, "clip_coef") ? 1 + 1e-9 : 1;
    return true;
  });
  EXPECT_TRUE(names.contains("clip_coefficient clip_coef step 2"));
  EXPECT_FALSE(names.contains("clip_norm grad_norm step 2"));
  // The moments were made with the right one.
  EXPECT_TRUE(names.contains("moment1 embed.weight step 2"));
}

TEST(LawsOfStep, ANormThatCountsOneParameterTwiceBreaksItsLaw) {
  const RebaseCase made(id_of("plain"));
  const Values counted =
      record_of(DumpReader(made.clean()), 1, Phase::grad, "layer0.norm2.bias").value();
  double squares = 0;
  for (const double g : counted) {
    squares += g * g;
  }
  const auto candidate = made.altered("twice", [=](const Piece& piece, Values& values) {
    if (is(piece, 1, Phase::scalar, "grad_norm")) {
      values[0] = std::sqrt(values[0] * values[0] + squares);
    }
    return true;
  });

  const auto names = broken(made.rebase("twice", candidate), candidate);

  EXPECT_TRUE(names.contains("clip_norm grad_norm step 1"));
}

// The tied weight's gradient is the sum of two records, in the norm and in both its moments.
TEST(LawsOfStep, ATiedWeightTakesBothItsGradients) {
  const auto names = broken_by("plain", [](const Piece& piece, Values& values) {
    if (is(piece, 2, Phase::grad, "head.weight")) {
      values[3] += 0.25;
    }
    return true;
  });

  EXPECT_THAT(names, ElementsAre("clip_norm grad_norm step 2", "moment1 embed.weight step 2",
                                 "moment1 head.weight step 2", "moment2 embed.weight step 2",
                                 "moment2 head.weight step 2"));
}

TEST(LawsOfStep, MomentumAndSgdHaveTheirOwnLaws) {
  const auto off = [](const std::string& features, Phase phase) {
    return broken_by(features, [=](const Piece& piece, Values& values) {
      values[0] += is(piece, 0, phase, "layer0.norm1.weight") ? 1e-12 : 0;
      return true;
    });
  };
  EXPECT_THAT(off("sgd", Phase::param), ElementsAre("update layer0.norm1.weight step 0",
                                                    "update layer0.norm1.weight step 1"));
  EXPECT_THAT(off("momentum", Phase::moment1), ElementsAre("moment1 layer0.norm1.weight step 0",
                                                           "moment1 layer0.norm1.weight step 1",
                                                           "update layer0.norm1.weight step 0"));
}

}  // namespace
}  // namespace meshparity::reference
