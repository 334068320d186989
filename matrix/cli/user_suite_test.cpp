// A user's own suite, a file anywhere, over a user's own models, a folder anywhere: the example of
// the root README, end to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fixtures/content_hash.hpp"
#include "fixtures/scratch_folder.hpp"
#include "matrix/cli/program_run.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using testing::UnorderedElementsAre;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class UserSuite : public testing::Test {
 protected:
  UserSuite() {
    std::string spec = text_of(std::filesystem::path(MESHPARITY_MODELS) / "gpt-micro.toml");
    spec.replace(spec.find("\"gpt-micro\""), 11, "\"mine\"");
    spec.replace(spec.find("layers = 1"), 10, "layers = 2");
    std::filesystem::create_directory(scratch_ / "models");
    std::ofstream(scratch_ / "models" / "mine.toml") << spec;
    hash_ = sha256_hex_of_file(scratch_ / "models" / "mine.toml").substr(0, 8);
  }

  int run(const std::string& suite) {
    std::ofstream(scratch_ / "mine.toml") << suite;
    const ProgramRun ran =
        run_to_end({MESHPARITY_PROGRAM, "run", "--suite", (scratch_ / "mine.toml").string(),
                    "--models", (scratch_ / "models").string(), "--out", out().string(), "--cache",
                    (scratch_ / "cache").string()},
                   scratch_ / "stderr");
    said_ = ran.err;
    return ran.exit;
  }
  std::filesystem::path out() const { return scratch_ / "out"; }
  std::vector<std::string> conforming() const {
    std::vector<std::string> ids;
    for (const CaseReport& report : read_results(out() / "results.jsonl")) {
      EXPECT_EQ(report.verdict, Verdict::conforms) << report.case_id;
      ids.push_back(report.case_id);
    }
    return ids;
  }

  ScratchFolder scratch_;
  std::string hash_;
  std::string said_;
};

TEST_F(UserSuite, RunsOverAUsersModels) {
  const std::string cases = R"(
[[cases]]
models = ["mine", "mine@)" + hash_ +
                            R"("]
meshes = ["dp2-tp2"]
features = ["sp-mb2-steps2"]
data = ["zipf"]
precisions = ["fp64"]
machines = ["host-threads"]
)";
  EXPECT_EQ(run(cases), 0) << said_;
  EXPECT_THAT(conforming(),
              UnorderedElementsAre("mine.dp2-tp2.sp-mb2-steps2.fp64.host-threads",
                                   "mine@" + hash_ + ".dp2-tp2.sp-mb2-steps2.fp64.host-threads"));
}

TEST_F(UserSuite, CoversAUsersModels) {
  EXPECT_EQ(run(R"(
[[covers]]
strength = 2
world_at_most = 4
[covers.factors]
model = ["mine"]
dp = ["dp1", "dp2"]
tp = ["tp1", "tp2"]
sequence_parallelism = ["plain", "sp"]
clip = ["clip", "clip_off"]
)"),
            0)
      << said_;
  EXPECT_GE(conforming().size(), 4U);
}

TEST_F(UserSuite, RefusesAModelWhoseBytesAreOthers) {
  EXPECT_EQ(run(R"(
[[cases]]
models = ["mine@01234567"]
meshes = ["single"]
features = ["plain"]
data = ["zipf"]
precisions = ["fp64"]
machines = ["host-threads"]
)"),
            2);
  EXPECT_THAT(said_, AllOf(HasSubstr("mine@01234567"), HasSubstr("has hash " + hash_)));
  EXPECT_FALSE(std::filesystem::exists(out() / "results.jsonl"));
}

}  // namespace
}  // namespace meshparity
