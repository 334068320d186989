// `minimize` on planted faults that act only where two things come together: it must name exactly
// these.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fixtures/scratch_folder.hpp"
#include "matrix/cli/program_run.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class MinimizeRun : public testing::Test {
 protected:
  int minimize(const std::string& id, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {MESHPARITY_PROGRAM, "minimize", id, "--out", out().string()};
    words.insert(words.end(), {"--cache", (scratch_ / "cache").string()});
    words.insert(words.end(), more.begin(), more.end());
    const ProgramRun ran = run_to_end(words, scratch_ / "stderr");
    said_ += ran.out + ran.err;
    return ran.exit;
  }
  std::filesystem::path out() const { return scratch_ / "out"; }

  ScratchFolder scratch_;
  std::string said_;
};

TEST_F(MinimizeRun, RowsCutOverTensorRanksAndDropoutThatCountsThem) {
  const std::string fault = "+dropout_of_local_rows";
  EXPECT_EQ(minimize("gpt-micro.dp2-tp4.sp-mb2-sgd.fp64.host-threads" + fault), 0);

  EXPECT_THAT(said_, HasSubstr("\nsmallest case that diverges alike: "
                               "gpt-micro.tp2.sp-steps1.fp64.host-threads" +
                               fault + "\n"));
  EXPECT_THAT(said_,
              HasSubstr("\nit diverges only with tp2, sp and dropout (a default) together\n"));
  EXPECT_THAT(said_, HasSubstr("; no single thing can be taken away; "));
}

TEST_F(MinimizeRun, SquaresCountedTwiceWhereBothAxesAreThere) {
  const std::string fault = "+norm_over_world";
  EXPECT_EQ(minimize("gpt-micro.dp2-tp4.sp-momentum.fp64.host-threads" + fault), 0);

  EXPECT_THAT(said_, HasSubstr("\nsmallest case that diverges alike: "
                               "gpt-micro.dp2-tp2.steps1.fp64.host-threads" +
                               fault + "\n"));
  EXPECT_THAT(said_, HasSubstr("\nit diverges only with dp2 and tp2 together\n"));
}

TEST_F(MinimizeRun, TheBorderOfMicroBatchesAndRaggedMasks) {
  const std::string fault = "+border_length_ignored";
  EXPECT_EQ(minimize("llama-micro.dp2-tp2.sp-mb2.fp64.host-procs" + fault), 0);

  EXPECT_THAT(said_, HasSubstr("\nsmallest case that diverges alike: "
                               "llama-micro.single.mb2-steps1.fp64.host-threads" +
                               fault + "\n"));
  EXPECT_THAT(said_,
              HasSubstr("\nit diverges only with mb2 and ragged masks (a default) together\n"));
}

TEST_F(MinimizeRun, LeavesAFolderOfResultsLikeARun) {
  minimize("gpt-micro.dp2-tp2.steps1.fp64.host-threads+norm_over_world");

  EXPECT_THAT(read_results(out() / "results.jsonl").size(), testing::Gt(2u));
  EXPECT_TRUE(std::filesystem::exists(out() / "report.md"));
}

TEST_F(MinimizeRun, TooFewRunsAreSaid) {
  EXPECT_EQ(minimize("gpt-micro.dp2-tp2.mb2.fp64.host-threads+norm_over_world", {"--runs", "2"}),
            3);
  EXPECT_THAT(said_, HasSubstr("2 of at most 2 runs; too few to try everything: --runs N"));
}

TEST_F(MinimizeRun, ACaseThatConformsIsRefused) {
  EXPECT_EQ(minimize("gpt-micro.dp2.steps1.fp64.host-threads"), 2);
  EXPECT_THAT(said_, AllOf(HasSubstr("meshparity: gpt-micro.dp2.steps1.fp64.host-threads conforms: "
                                     "there is nothing to minimize\n"),
                           Not(HasSubstr("smallest"))));
}

}  // namespace
}  // namespace meshparity
