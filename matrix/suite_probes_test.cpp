// Coverage has two halves, and a suite asks for both: a probe for each layout that it runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "matrix/enumerate.hpp"

namespace meshparity {
namespace {

/// What decides how parameters lie over ranks: "dp2-tp3.sp-order_dp_cp_ep_tp_pp".
std::string layout_of(const CaseSpec& spec) {
  CaseSpec layout;
  layout.model = "any";
  layout.mesh = spec.mesh;
  layout.sequence_parallel = spec.sequence_parallel;
  layout.order = spec.order;
  return format_case(layout);
}

class SuiteProbes : public testing::TestWithParam<std::string> {};

TEST_P(SuiteProbes, ThereIsOneForEachLayout) {
  const std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path();
  CaseSource source;
  source.suites = folder / "suites";
  source.models = folder.parent_path() / "fixtures" / "models";
  source.text_hash = [] { return std::string("0123abcd"); };
  std::set<std::string> run, probed;
  for (const PlannedCase& planned : enumerate({GetParam(), {}, {}, {}}, source).cases) {
    EXPECT_TRUE(!is_probe(planned.spec) || planned.excluded.empty()) << planned.excluded;
    (is_probe(planned.spec) ? probed : run).insert(layout_of(planned.spec));
  }

  for (const std::string& layout : run) {
    EXPECT_TRUE(probed.contains(layout)) << layout;
  }
  EXPECT_GE(run.size(), 8u);
}

INSTANTIATE_TEST_SUITE_P(Ours, SuiteProbes, testing::Values("smoke", "singles"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace meshparity
