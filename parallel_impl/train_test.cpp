// Whole cases on threads: what must be equal between layouts is equal, bit for bit; what may round
// differently differs by rounding only; every record of the level is there.
#include "parallel_impl/train.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fixtures/record_table.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

std::string micro(const std::string& layout) {
  return "gpt-micro." + layout + ".fp64.host-threads";
}
CaseRun run(const std::string& layout) {
  CaseRun made = run_whole_case(micro(layout), Level::all);
  EXPECT_EQ(made.complaints, std::vector<std::string>()) << layout;
  return made;
}

const std::vector<double>& record(const CaseRun& run, const std::string& name) {
  return run.records.at(name);
}

std::vector<std::string> missing_records(const std::string& case_id, const CaseRun& run) {
  const CaseSpec spec = parse_case(case_id);
  std::vector<std::string> missing;
  for (const RecordSpec& entry :
       record_table(load_named_model(MESHPARITY_MODELS, spec.model), spec)) {
    for (int step = 0; step < spec.steps; ++step) {
      const std::string name = "step" + std::to_string(step) + "/" +
                               std::string(phase_name(entry.phase)) + "/" + entry.name;
      if (!run.records.contains(name)) {
        missing.push_back(name);
      }
    }
  }
  return missing;
}

TEST(Train, RecordsEverythingOfTheLevelOnEveryLayoutAndWithEveryOption) {
  for (const char* layout :
       {"single.plain", "tp2.plain", "tp4.plain", "dp2.plain", "dp2-tp2.mb2", "dp4.sgd",
        "tp2.momentum-clip_near", "single.clip_off-drop0-smooth0-maskfull-steps1"}) {
    const CaseRun made = run(layout);

    EXPECT_EQ(missing_records(micro(layout), made), std::vector<std::string>()) << layout;
  }
}

TEST(Train, ARepeatedCaseHasTheSameBits) {
  const CaseRun first = run("dp2-tp2.mb2");
  const CaseRun second = run("dp2-tp2.mb2");

  EXPECT_EQ(differing(first, second, "step"), std::vector<std::string>());
}

TEST(Train, RankOrderChangesNoBit) {
  const CaseRun usual = run("dp2-tp2.plain");
  const CaseRun other = run("dp2-tp2.order_dp_tp_cp_ep_pp");

  EXPECT_EQ(differing(usual, other, "step"), std::vector<std::string>());
}

TEST(Train, TensorParallelismIsExactUpToTheFirstContext) {
  const CaseRun one = run("single.plain");
  for (const char* layout : {"tp2.plain", "tp4.plain"}) {
    const CaseRun cut = run(layout);
    for (const char* name :
         {"embed.token", "embed.sum", "layer0.in", "layer0.norm1", "layer0.attn.q", "layer0.attn.k",
          "layer0.attn.v", "layer0.attn.probs", "layer0.attn.context"}) {
      const std::string key = std::string("step0/forward/") + name;
      EXPECT_EQ(record(one, key), record(cut, key)) << layout << " " << name;
    }
  }
}

TEST(Train, DataParallelismAndMicroBatchesChangeNoActivationOfTheFirstStep) {
  const CaseRun one = run("single.plain");
  for (const char* layout : {"dp2.plain", "dp4.plain", "single.mb2", "dp2.mb2"}) {
    const CaseRun cut = run(layout);
    for (const char* prefix : {"step0/forward", "step0/loss", "step0/backward"}) {
      EXPECT_EQ(differing(one, cut, prefix), std::vector<std::string>()) << layout;
    }
    EXPECT_NE(differing(one, cut, "step0/grad"), std::vector<std::string>())
        << layout << ": gradients are summed in another order, so some bit should differ";
  }
}

/// Relative distance of two tensors, by their Euclidean norms; NaN makes it NaN.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += (a[i] - b[i]) * (a[i] - b[i]);
    size += a[i] * a[i];
  }
  return std::sqrt(apart / (size > 0 ? size : 1));
}

/// A key bias moves all scores of a query alike: its gradient is rounding noise around zero.
bool is_noise(const std::string& name) {
  return name.find("attn.k.bias") != name.npos;
}

// A logic error shows at 1e-3 or more; rounding, u = 1.1e-16, grows here by less than 1e4.
constexpr double kRounding = 1e-12;

TEST(Train, LayoutsDifferByRoundingOnlyOverThreeStepsOfSgd) {
  const CaseRun one = run("single.sgd");
  for (const char* layout :
       {"tp2.sgd", "tp4.sgd", "dp2.sgd", "dp2-tp2.mb2-sgd", "single.mb4-sgd"}) {
    const CaseRun cut = run(layout);
    for (const auto& [name, values] : one.records) {
      const double apart = is_noise(name) ? 0 : distance(values, record(cut, name));
      EXPECT_TRUE(apart <= kRounding) << layout << " " << name << " " << apart;
    }
  }
}

TEST(Train, LayoutsOfTheTinyModelDifferByRoundingOnly) {
  const auto tiny = [](const std::string& layout) {
    return run_whole_case("gpt-tiny." + layout + ".fp64.host-threads", Level::standard);
  };
  const CaseRun one = tiny("single.steps1");
  for (const char* layout : {"dp2-tp3.mb2-steps1", "tp8.steps1"}) {
    const CaseRun cut = tiny(layout);
    EXPECT_EQ(cut.complaints, std::vector<std::string>());
    for (const auto& [name, values] : one.records) {
      const double apart = is_noise(name) ? 0 : distance(values, record(cut, name));
      EXPECT_TRUE(apart <= kRounding) << layout << " " << name << " " << apart;
    }
  }
}

TEST(Train, SinglePrecisionStaysNearDoublePrecision) {
  const CaseRun wide = run("tp2.sgd");
  const CaseRun narrow = run_whole_case("gpt-micro.tp2.sgd.fp32.host-threads", Level::all);
  for (const auto& [name, values] : wide.records) {
    const double apart = is_noise(name) ? 0 : distance(values, record(narrow, name));
    // u = 6e-8 in place of 1.1e-16: the limit above, scaled.
    EXPECT_TRUE(apart <= kRounding * 0x1p29) << name << " " << apart;
  }
}

}  // namespace
}  // namespace meshparity
