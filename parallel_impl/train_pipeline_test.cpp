// Every schedule computes the bits of the whole model on one stage (contracts.md §6), for all
// records of all steps; and leaves the list of what it did.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parallel_impl/case_run.hpp"

namespace meshparity {
namespace {

using testing::IsEmpty;
using testing::TestWithParam;
using testing::Values;

std::string id_of(const std::string& model, const std::string& mesh, const std::string& features) {
  return model + "." + mesh + "." + features + ".fp64.host-threads";
}

/// Two cases of one model whose records must be equal; features of the second follow its mesh.
struct Pair {
  const char* model;
  const char* mesh;
  const char* features;
  const char* other_mesh;
  const char* other_features;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.model << " " << pair.other_mesh << " " << pair.other_features;
}

class SameBits : public TestWithParam<Pair> {};

TEST_P(SameBits, InEveryRecordOfEveryStep) {
  const Pair& pair = GetParam();
  const CaseRun plain =
      run_whole_case(id_of(pair.model, pair.mesh, pair.features), Level::standard);
  const CaseRun other =
      run_whole_case(id_of(pair.model, pair.other_mesh, pair.other_features), Level::standard);

  EXPECT_THAT(plain.complaints, IsEmpty());
  EXPECT_THAT(other.complaints, IsEmpty());
  EXPECT_EQ(plain.records.size(), other.records.size());
  EXPECT_THAT(differing(plain, other, ""), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Schedules, SameBits,
    Values(Pair{"gpt-tiny", "single", "mb4", "pp2", "naive-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "gpipe-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp4", "1f1b-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "int2-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "zbh1-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "zbh2-mb4"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "zbv-mb4"},
           Pair{"llama-tiny", "dp2-tp2", "sp-mb3", "dp2-tp2-pp2", "sp-zbh1-mb3"},
           Pair{"gpt-tiny", "tp2", "sp-mb4", "tp2-pp2", "sp-zbv-mb4"},
           Pair{"mixed-tiny", "dp2", "mb4-lscale-steps2", "dp2-pp2", "zbv-mb4-lscale-steps2"},
           Pair{"gpt-tiny", "dp3", "mb2-clip_near", "dp3-pp2", "1f1b-mb2-clip_near"},
           Pair{"gpt-tiny", "single", "mb2-loss_mbmean", "pp2", "gpipe-mb2-loss_mbmean"},
           Pair{"gpt-tiny", "single", "mb4", "pp2", "1f1b-mb4-split1_3"},
           // Two micro-batches' parts are on their way at once, behind one that has arrived.
           Pair{"llama-tiny", "dp2-pp2", "1f1b-mb3-zero2-steps1", "dp2-pp2",
                "zbh1-mb3-zero2-steps1"},
           Pair{"mixed-tiny", "single", "mb8-steps1", "pp4", "zbv-mb8-steps1"},
           Pair{"mixed-tiny", "single", "mb2-steps1", "pp8", "1f1b-mb2-steps1"}));

INSTANTIATE_TEST_SUITE_P(Recomputation, SameBits,
                         Values(Pair{"gpt-tiny", "single", "mb2", "single", "mb2-rc_full"},
                                Pair{"gpt-tiny", "single", "mb2", "single", "mb2-rc_selective"},
                                Pair{"llama-tiny", "tp2", "sp-mb2", "tp2", "sp-mb2-rc_full"},
                                Pair{"gpt-tiny", "single", "mb4", "pp2", "zbv-mb4-rc_full"},
                                Pair{"gpt-tiny", "single", "mb4", "pp2", "1f1b-mb4-rc_full"},
                                Pair{"llama-tiny", "single", "mb4", "pp2",
                                     "zbh1-mb4-rc_selective"}));

}  // namespace
}  // namespace meshparity
