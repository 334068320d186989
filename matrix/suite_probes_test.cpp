// Coverage has two halves, and a suite asks for both: a probe for each layout that it runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "matrix/enumerate.hpp"

namespace meshparity {
namespace {

/// What decides how parameters lie over ranks: "dp2-tp3.sp-order_dp_cp_ep_tp_pp". Schedules cut a
/// pipeline alike, but for those of several chunks a stage; buckets matter where they are cut.
std::string layout_of(const CaseSpec& spec) {
  CaseSpec layout;
  layout.model = "any";
  layout.mesh = spec.mesh;
  const bool chunks = spec.schedule == Schedule::interleaved || spec.schedule == Schedule::zbv;
  layout.schedule =
      spec.schedule == Schedule::none || chunks ? spec.schedule : Schedule::one_f_one_b;
  layout.virtual_chunks = spec.virtual_chunks;
  layout.split = spec.split;
  layout.zero_stage = spec.zero_stage;
  layout.zero_by_parameter = spec.zero_by_parameter;
  layout.bucket_kibi_elements = spec.zero_stage > 0 ? spec.bucket_kibi_elements : 0;
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
