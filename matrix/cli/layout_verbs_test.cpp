// explain, plan and assemble as a user meets them: what they print, exit codes, one line for what
// is wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

Ran run(std::vector<std::string> words) {
  const ScratchFolder scratch;
  words.insert(words.begin(), MESHPARITY_PROGRAM);
  Launch launch(words, scratch / "stderr");
  Ran ran;
  for (std::string line; launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line;) {
    ran.out += line + "\n";
  }
  ran.exit = launch.wait().exit_code;
  std::ifstream err(scratch / "stderr");
  ran.err = {std::istreambuf_iterator<char>(err), {}};
  return ran;
}

void expect_refusal(const Ran& ran, const std::string& text) {
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.err, AllOf(StartsWith("meshparity: "), HasSubstr(text)));
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

TEST(LayoutVerbs, ExplainACaseToPeopleAndPrograms) {
  const std::string id = "gpt-tiny.dp2-tp3.mb2.fp64.host-threads";

  const Ran text = run({"explain", id, "--ranks-per-node", "3"});
  const Ran json = run({"explain", id, "--json"});

  EXPECT_EQ(text.exit, 0);
  EXPECT_THAT(text.out, HasSubstr("mesh dp2-tp3: 6 ranks, 3 to a node"));
  EXPECT_EQ(json.exit, 0);
  EXPECT_THAT(json.out, StartsWith("{\n \"case\": \"" + id + "\""));
}

TEST(LayoutVerbs, ExplainWhatIsLegalAndNotBuiltYet) {
  const Ran ran = run({"explain", "gpt-tiny.cp3.cp_ring.fp64.host-threads"});

  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr("cp: 1 of 3 ranks"));
  EXPECT_THAT(ran.out, HasSubstr("cannot be run: "));
}

TEST(LayoutVerbs, RefuseWhatIsWrongInOneLine) {
  expect_refusal(run({"explain", "gpt-tiny.tp5.plain.fp64.host-threads"}),
                 "heads 24 do not divide by tp 5");
  expect_refusal(run({"explain", "gpt-huge.tp2.plain.fp64.host-threads"}), "gpt-tiny");
  expect_refusal(run({"explain", "gpt-tiny.tp2.plain.fp64.host-threads", "--rank", "2"}),
                 "the case has ranks 0 to 1");
  expect_refusal(run({"plan", "--model", "gpt-tiny"}), "--ranks is required");
  expect_refusal(run({"plan", "--model", "/absent/mine.toml", "--ranks", "2"}),
                 "/absent/mine.toml");
  expect_refusal(run({"assemble", "/absent"}), "/absent is no folder");
}

TEST(LayoutVerbs, PlanNamesLayoutsAndSaysWhereThereAreNone) {
  const Ran some = run({"plan", "--model", "gpt-tiny", "--ranks", "8"});
  const Ran none = run({"plan", "--model", "gpt-tiny", "--ranks", "10"});

  EXPECT_EQ(some.exit, 0);
  EXPECT_THAT(some.out, HasSubstr("dp4-tp2 sp"));
  EXPECT_EQ(none.exit, 3);
  EXPECT_THAT(none.out, HasSubstr("not possible: dp2-tp5: heads 24 do not divide by tp 5"));
}

TEST(LayoutVerbs, PlanTakesAModelsFile) {
  const std::string file = MESHPARITY_MODELS "/llama-micro.toml";

  EXPECT_EQ(run({"plan", "--model", file, "--ranks", "2"}).out,
            run({"plan", "--model", "llama-micro", "--ranks", "2"}).out);
}

}  // namespace
}  // namespace meshparity
