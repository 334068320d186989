#include "matrix/cover_cases.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"

namespace meshparity {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::StartsWith;

const std::filesystem::path kModels =
    std::filesystem::path(__FILE__).parent_path().parent_path() / "fixtures" / "models";

class CoverCases : public testing::Test {
 protected:
  CoverCases() : source_{"", kModels, [] { return std::string("0123abcd"); }}, planner_(source_) {
    block_.line = 7;
    block_.strength = 2;
    block_.world_at_most = 8;
    block_.factors = {{"model", {"gpt-tiny"}}};
  }
  CoveredCases made() { return cover_cases(block_, "my.toml", source_, planner_); }
  std::vector<std::string> ids() {
    std::vector<std::string> ids;
    for (const CaseSpec& spec : made().cases) {
      ids.push_back(format_case(spec));
    }
    return ids;
  }
  std::string refusal() {
    try {
      made();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  CaseSource source_;
  CasePlanner planner_;
  CoverBlock block_;
};

TEST_F(CoverCases, SetsModelsAxesFeaturesDataPrecisionAndMachine) {
  block_.strength = 1;
  block_.factors = {{"model", {"gpt-tiny", "llama-tiny"}}, {"dp", {"dp1", "dp2"}},
                    {"optimizer", {"adamw", "sgd"}},       {"data", {"zipf", "text"}},
                    {"precision", {"fp64", "fp32"}},       {"machine", {"host-threads"}}};

  EXPECT_THAT(ids(), ElementsAre("gpt-tiny.single.plain.fp64.host-threads",
                                 "llama-tiny.single.plain.fp64.host-threads",
                                 "gpt-tiny.dp2.plain.fp64.host-threads",
                                 "gpt-tiny.single.sgd.fp64.host-threads",
                                 "gpt-tiny.single.text_0123abcd.fp64.host-threads",
                                 "gpt-tiny.single.plain.fp32.host-threads"));
}

TEST_F(CoverCases, ExcludesWhatIsIllegalTooLargeOrIdle) {
  block_.factors = {{"model", {"gpt-tiny"}},
                    {"dp", {"dp1", "dp4"}},
                    {"tp", {"tp1", "tp4", "tp5"}},
                    {"order", {"plain", "order_dp_cp_ep_tp_pp"}}};
  using Excluded = CoverSummary::Excluded;
  const auto because = [](const std::string& combination, const std::string& reason) {
    return testing::AllOf(Field(&Excluded::combination, combination),
                          Field(&Excluded::reason, testing::HasSubstr(reason)));
  };
  const auto excluded = made().summary.excluded;

  EXPECT_THAT(excluded, Contains(because("dp4 with tp4", "world 16 is above this suite's 8")));
  EXPECT_THAT(excluded, Contains(because("gpt-tiny with tp5", "24")));
  EXPECT_THAT(excluded, Contains(because("dp1 with order_dp_cp_ep_tp_pp", "changes nothing")));
}

TEST_F(CoverCases, KeepsToARestriction) {
  block_.factors = {
      {"model", {"gpt-tiny"}}, {"dp", {"dp1", "dp2"}}, {"loss_mode", {"tokenmean", "loss_mbmean"}}};
  block_.restrictions = {{"loss_mbmean", {"dp2"}}};

  EXPECT_THAT(ids(), Contains("gpt-tiny.dp2.loss_mbmean.fp64.host-threads"));
  EXPECT_THAT(ids(), testing::Not(Contains("gpt-tiny.single.loss_mbmean.fp64.host-threads")));
}

TEST_F(CoverCases, CountsTheReferencesThatAreNeeded) {
  block_.factors = {{"model", {"gpt-tiny", "llama-tiny"}},
                    {"optimizer", {"adamw", "sgd"}},
                    {"dp", {"dp1", "dp2", "dp3", "dp4"}}};

  EXPECT_EQ(made().summary.keys, 4u);
  EXPECT_EQ(made().summary.cases, 8u);
  EXPECT_EQ(describe_cover(made().summary),
            "20 of 20 legal pairs of values in 8 cases (20 ranks, 4 keys); 0 excluded");
}

TEST_F(CoverCases, NamesFileAndLineOfAnUnknownValue) {
  block_.factors.push_back({"optimizer", {"adamw", "sdg"}});

  EXPECT_THAT(refusal(), StartsWith("my.toml:7: "));
}

TEST_F(CoverCases, RefusesACoverThatNoCaseIsPartOf) {
  block_.factors = {{"model", {"gpt-tiny"}}, {"tp", {"tp5"}}};

  EXPECT_THAT(refusal(), StartsWith("my.toml:7: no case is legal: "));
}

}  // namespace
}  // namespace meshparity
