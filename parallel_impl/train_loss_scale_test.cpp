// Loss scaling: it changes no bit of a step that is taken, and nothing at all is left of one that
// is skipped.
#include <gtest/gtest.h>

#include "fixtures/record_table.hpp"
#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

CaseRun run(const std::string& layout) {
  CaseRun made = run_whole_case("gpt-micro." + layout, Level::all);
  EXPECT_EQ(made.complaints, std::vector<std::string>()) << layout;
  return made;
}

const std::vector<double>& record(const CaseRun& run, const std::string& name) {
  return run.records.at(name);
}

TEST(LossScaling, ByAPowerOfTwoChangesNoBitOfAStepThatIsTaken) {
  const CaseRun plain = run("dp2-tp2.sp-mb2-steps1.fp64.host-threads");
  const CaseRun scaled = run("dp2-tp2.sp-mb2-lscale-steps2.fp64.host-threads");

  EXPECT_EQ(differing(plain, scaled, "step0"), std::vector<std::string>());
}

TEST(LossScaling, RecordsWhatAStepHasAndNothingElse) {
  const std::string id = "gpt-micro.dp2-tp2.lscale.fp64.host-threads";
  const CaseRun made = run("dp2-tp2.lscale.fp64.host-threads");
  const CaseSpec spec = parse_case(id);
  for (const RecordSpec& entry :
       record_table(load_named_model(MESHPARITY_MODELS, spec.model), spec)) {
    for (int step = 0; step < spec.steps; ++step) {
      const std::string name = "step" + std::to_string(step) + "/" +
                               std::string(phase_name(entry.phase)) + "/" + entry.name;
      EXPECT_EQ(made.records.contains(name), is_recorded(entry, spec, step)) << name;
    }
  }
}

TEST(LossScaling, ASkippedStepLeavesParametersMomentsAndCountAsTheyWere) {
  for (const char* precision : {"fp64", "fp32"}) {
    const CaseRun made = run("tp2.lscale-steps4." + std::string(precision) + ".host-threads");
    for (const auto& [name, values] : made.records) {
      for (const char* phase : {"step0/param/", "step0/moment1/", "step0/moment2/"}) {
        if (name.starts_with(phase)) {
          EXPECT_EQ(record(made, "step1" + name.substr(5)), values) << name;
          EXPECT_NE(record(made, "step2" + name.substr(5)), values) << name;
        }
      }
    }
    const std::vector<double> found = {0, 1, 0, 0}, scales = {65536, 65536, 32768, 32768},
                              counts = {1, 1, 2, 3};
    for (std::size_t step = 0; step < 4; ++step) {
      const std::string prefix = "step" + std::to_string(step);
      EXPECT_EQ(record(made, prefix + "/scalar/found_inf").at(0), found[step]);
      EXPECT_EQ(record(made, prefix + "/scalar/loss_scale").at(0), scales[step]);
      EXPECT_EQ(record(made, prefix + "/exact/step_count").at(0), counts[step]);
    }
  }
}

}  // namespace
}  // namespace meshparity
