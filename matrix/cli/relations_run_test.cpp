// Exact relations as a user asks for them, with the real worker.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/scratch_folder.hpp"
#include "matrix/cli/program_run.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

class RelationsRun : public testing::Test {
 protected:
  ProgramRun run(std::vector<std::string> words) {
    words.insert(words.begin(), {MESHPARITY_PROGRAM, "run"});
    words.insert(words.end(), {"--out", (scratch_ / "run").string()});
    return run_to_end(words, scratch_ / "stderr");
  }
  ScratchFolder scratch_;
};

TEST_F(RelationsRun, EveryRelationOfOurSuiteHolds) {
  const ProgramRun ran = run({"--suite", "exact"});

  EXPECT_EQ(ran.exit, 0) << ran.out;
  for (const std::string name : {"repeat", "level", "eager", "procs", "rank_order", "sp", "tp1"}) {
    EXPECT_THAT(ran.out, HasSubstr(fmt::format("\n{:<10}  conforms", name)));
  }
}

// The fault sits on rank 1, which has another coordinate in the other order.
TEST_F(RelationsRun, ABrokenRelationNamesTheFirstRecordAndHowToSeeItAgain) {
  const std::string id = "gpt-micro.dp2-tp4.plain.fp64.host-threads+rowbias_every_rank-r1";
  const ProgramRun ran = run({id, "--relation", "rank_order"});

  EXPECT_EQ(ran.exit, 1) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("forward layer0.attn.out step 0"));
  EXPECT_THAT(ran.out, HasSubstr("again: meshparity run " + id + " --relation rank_order"));
}

// The word behind a relation is a case again.
TEST_F(RelationsRun, ACaseOfWhichARelationSaysNothingIsNotRun) {
  const ProgramRun ran = run({"--relation", "tp1", "gpt-micro.dp2.plain.fp64.host-threads"});

  EXPECT_EQ(ran.exit, 3) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("relation tp1 says nothing of this case"));
}

}  // namespace
}  // namespace meshparity
