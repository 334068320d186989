// The real program, as a user meets it: exit codes, one clear line for what is wrong, nothing
// written over; and what a run leaves on disk when its worker misbehaves.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "fixtures/dump.hpp"
#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"

namespace meshparity {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const fs::path kModels =
    fs::path(__FILE__).parent_path().parent_path().parent_path() / "fixtures" / "models";

struct Ran {
  int exit = -1;
  std::string out;
  std::string err;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class CommandLine : public testing::Test {
 protected:
  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), MESHPARITY_PROGRAM);
    const fs::path err = scratch_ / fmt::format("stderr{}", ran_++);
    Launch launch(words, err);
    Ran ran;
    for (std::string line;
         launch.read_line(line, std::chrono::seconds(60)) == Launch::Read::line;) {
      ran.out += line + "\n";
    }
    ran.exit = launch.wait().exit_code;
    ran.err = bytes_of(err);
    return ran;
  }
  /// `run` with stand-ins for both programs, into a fresh folder "out".
  Ran run_cases(std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "--out", out().string(), "--cache", cache().string(),
                                 "--reference", FAKE_PROGRAM, "--time-limit", "0.5"});
    if (std::find(words.begin(), words.end(), "--worker") == words.end()) {
      words.insert(words.end(), {"--worker", FAKE_PROGRAM});
    }
    return run(words);
  }
  fs::path out() const { return scratch_ / "out"; }
  fs::path cache() const { return scratch_ / "cache"; }
  static std::string id(const std::string& features) {
    return fmt::format("gpt-tiny.dp2.{}.fp64.host-threads", features);
  }
  static void expect_refusal(const Ran& ran, const testing::Matcher<std::string>& text) {
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.err, AllOf(StartsWith("meshparity: "), text));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  fs::path write_dump(const std::string& name, const std::string& case_id, bool whole) {
    fs::create_directories(scratch_ / name);
    DumpHeader header;
    header.case_id = case_id;
    DumpWriter writer(scratch_ / name / "rank_0000.h5", header);
    if (whole) {
      writer.complete();
    }
    return scratch_ / name;
  }

  ScratchFolder scratch_;
  int ran_ = 0;
};

TEST_F(CommandLine, ListsCasesAndEachExcludedOneWithItsReason) {
  const Ran ran = run({"list", id("plain"), "gpt-tiny.tp5.plain.fp64.host-threads"});

  EXPECT_EQ(ran.exit, 0);
  EXPECT_THAT(ran.out, HasSubstr(id("plain") + "\n"));
  EXPECT_THAT(ran.out, HasSubstr("not run: gpt-tiny.tp5.plain.fp64.host-threads: "));
  EXPECT_THAT(ran.out, HasSubstr("1 cases, 1 excluded\n"));
}

TEST_F(CommandLine, RefusesAnUnknownCaseId) {
  expect_refusal(run_cases({"gpt-tiny.dp2.sdg.fp64.host-threads"}), HasSubstr("sdg"));
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(CommandLine, RefusesAnUnknownModelAndNamesThoseThatExist) {
  expect_refusal(run_cases({"gpt-huge.dp2.plain.fp64.host-threads"}), HasSubstr("gpt-tiny"));
}

TEST_F(CommandLine, RefusesAnUnknownFaultAndNamesThoseThatExist) {
  expect_refusal(run_cases({id("plain") + "+skip_everything"}),
                 AllOf(HasSubstr("skip_everything"), HasSubstr("skip_dp_grad")));
}

TEST_F(CommandLine, RefusesABrokenSuiteWithFileAndLine) {
  const fs::path suite = scratch_.write("mine.toml", "# mine\n[[cases]\n");

  expect_refusal(run_cases({"--suite", suite.string()}), HasSubstr(suite.string() + ":2: "));
}

TEST_F(CommandLine, RefusesABrokenModelWithFileAndLine) {
  const std::string model = bytes_of(kModels / "gpt-tiny.toml");
  const fs::path file = scratch_.write("gpt-tiny.toml", "heads = \"many\"\n" + model);

  expect_refusal(run_cases({id("plain"), "--models", scratch_.path().string()}),
                 HasSubstr(file.string() + ":"));
}

TEST_F(CommandLine, RefusesASelectionThatMatchesNothing) {
  expect_refusal(run_cases({"--suite", "smoke", "--only", "*dp77*"}), HasSubstr("*dp77*"));
}

TEST_F(CommandLine, RefusesAnOutputFolderThatIsNotEmptyAndWritesNothing) {
  fs::create_directories(out());
  std::ofstream(out() / "precious") << "mine";

  expect_refusal(run_cases({id("plain")}), HasSubstr("is not empty"));

  EXPECT_EQ(bytes_of(out() / "precious"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(out()), fs::directory_iterator()), 1);
}

TEST_F(CommandLine, RefusesAnOutputFolderThatCannotBeWritten) {
  const fs::path file = scratch_.write("file", "x");

  expect_refusal(run({"run", id("plain"), "--out", (file / "run").string(), "--reference",
                      FAKE_PROGRAM, "--cache", cache().string()}),
                 HasSubstr("cannot be written"));
}

TEST_F(CommandLine, RefusesATextOfAnotherHash) {
  const fs::path text = scratch_.write("text", std::string(2000, 'x'));

  expect_refusal(run_cases({id("text_00000000"), "--text", text.string()}),
                 AllOf(HasSubstr("00000000"), HasSubstr(text.string())));
}

TEST_F(CommandLine, RefusesWordsThatItDoesNotKnow) {
  expect_refusal(run_cases({id("plain"), "--keep", "some"}), HasSubstr("--keep"));
  expect_refusal(run({}), HasSubstr("subcommand"));
  expect_refusal(run({"scale"}), HasSubstr("scale is not built yet"));
  expect_refusal(run({"scale", "--world", "16384"}), HasSubstr("scale is not built yet"));
}

TEST_F(CommandLine, RefusesToRunWithoutAReferenceProgram) {
  expect_refusal(run({"run", id("plain"), "--reference", "/absent", "--out", out().string()}),
                 HasSubstr("/absent does not exist"));
}

TEST_F(CommandLine, NamesTheCaseThatAKilledWorkerHeldAndRunsTheRest) {
  const Ran ran = run_cases({id("plain"), id("seed11"), id("mb2")});

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("was killed by SIGSEGV (signal 11)"));
  EXPECT_THAT(ran.out, HasSubstr("again: meshparity replay " + id("seed11")));
  const std::string results = bytes_of(out() / "results.jsonl");
  EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 3);
  EXPECT_THAT(results, HasSubstr(id("mb2")));
  EXPECT_THAT(bytes_of(out() / id("seed11") / "report.json"), HasSubstr("SIGSEGV"));
  EXPECT_THAT(bytes_of(out() / "report.md"), HasSubstr("### " + id("seed11") + " (diverges)"));
  EXPECT_THAT(bytes_of(out() / "plan.json"), HasSubstr(id("seed11")));
}

TEST_F(CommandLine, KillsAWorkerThatHangsAndSaysWhoWaitsWhere) {
  const Ran ran = run_cases({id("seed12")});

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("nothing moved for 0.5 s"));
  EXPECT_THAT(ran.out, HasSubstr("rank 0 waits at layer0.mlp.down/forward in tp: 0 1, call 1"));
}

TEST_F(CommandLine, IsInconclusiveWhenTheWorkerDoesNotStart) {
  const Ran ran = run_cases({id("plain"), "--worker", "/absent/worker"});

  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(ran.out, HasSubstr("starting /absent/worker: No such file or directory"));
  EXPECT_THAT(ran.out, HasSubstr("1 inconclusive, 0 conform"));
}

TEST_F(CommandLine, IsInconclusiveWhenACaseAskedForIsNotRun) {
  const Ran ran = run_cases({"gpt-tiny.tp5.plain.fp64.host-threads"});

  EXPECT_EQ(ran.exit, 3);
  EXPECT_THAT(bytes_of(out() / "results.jsonl"), HasSubstr("\"verdict\":\"not run\""));
  EXPECT_THAT(bytes_of(out() / "report.md"), HasSubstr("## Not run"));
}

TEST_F(CommandLine, ReplaysACaseAtLevelAllAndKeepsItsDumps) {
  const Ran ran = run({"replay", id("seed13"), "--out", out().string(), "--cache", cache().string(),
                       "--reference", FAKE_PROGRAM, "--worker", FAKE_PROGRAM});

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("rank 1 gave up"));
  EXPECT_THAT(ran.out, HasSubstr("dumps at level all: " + out().lexically_normal().string()));
  EXPECT_THAT(bytes_of(out() / "plan.json"), HasSubstr("\"level\": \"all\""));
  EXPECT_TRUE(fs::exists(out() / id("seed13") / "dump" / "board.bin"));
}

TEST_F(CommandLine, NeverTakesDumpsWithoutPiecesForConforming) {
  const Ran ran = run_cases({id("plain")});

  EXPECT_THAT(ran.exit, testing::AnyOf(1, 3));
  EXPECT_THAT(ran.out, HasSubstr("0 conform"));
}

TEST_F(CommandLine, RefusesToCompareWhatIsNoDump) {
  const fs::path good = write_dump("good", id("plain"), true);
  const fs::path torn = write_dump("torn", id("plain"), false);
  fs::create_directories(scratch_ / "foreign");
  scratch_.write("foreign/rank_0000.h5", "these bytes are no HDF5 file");

  expect_refusal(run({"compare", good.string(), torn.string()}), HasSubstr(torn.string()));
  expect_refusal(run({"compare", good.string(), (scratch_ / "foreign").string()}),
                 HasSubstr("foreign"));
  expect_refusal(run({"compare", good.string(), (scratch_ / "absent").string()}),
                 HasSubstr("absent"));
}

TEST_F(CommandLine, RefusesToCompareDumpsOfUnlikeCases) {
  const fs::path one = write_dump("one", id("plain"), true);
  const fs::path other = write_dump("other", id("sgd"), true);

  expect_refusal(run({"compare", one.string(), other.string()}), HasSubstr("--across"));
}

TEST_F(CommandLine, PaintsOnlyWhereColourIsWanted) {
  const Ran plain = run_cases({id("seed12")});
  fs::remove_all(out());
  const Ran painted = run_cases({id("seed12"), "--color", "always"});

  EXPECT_THAT(plain.out, Not(HasSubstr("\033[")));
  EXPECT_THAT(painted.out, HasSubstr("\033[31mdiverges"));
}

TEST_F(CommandLine, DoctorNamesEveryMachineAndWhatIsMissing) {
  const Ran ran = run({"doctor", "--cache", cache().string()});

  for (const std::string word : {"host-threads", "host-procs", "host-mpi", "cuda-threads",
                                 "cuda-nccl", "HDF5", "compiler", "text data", "h5py", "torch"}) {
    EXPECT_THAT(ran.out, HasSubstr(word));
  }
}

TEST_F(CommandLine, WhatDoesNotConformRunsAgainAndWhatDoesNotRepeatIsTold) {
  const Ran ran = run_cases({id("seed22"), id("seed13")});

  EXPECT_EQ(ran.exit, 1);
  const std::string told =
      "  repeatable, rank 1 (dp1): not repeatable: the first run died: rank 1 "
      "gave up; run again alone it ended\n";
  EXPECT_THAT(ran.out, HasSubstr(told));
  EXPECT_EQ(ran.out.find(told), ran.out.rfind(told)) << "only one of the two died once";
  EXPECT_THAT(bytes_of(out() / "report.md"), HasSubstr("| repeatable | diverges | 0 | 1 |"));
  EXPECT_THAT(bytes_of(out() / "report.md"), HasSubstr("| repeatable | conforms | 0 | 0 |"));
}

TEST_F(CommandLine, OnceTurnsTheSecondRunOff) {
  const Ran ran = run_cases({id("seed22"), "--once"});

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, Not(HasSubstr("repeatable")));
  EXPECT_THAT(bytes_of(out() / "report.md"), Not(HasSubstr("repeatable")));
}

TEST_F(CommandLine, FailFastLeavesTheRestNotRun) {
  const Ran ran =
      run_cases({id("seed13"), id("seed17"), id("plain"), "--fail-fast", "--jobs", "1"});

  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, HasSubstr("1 diverge, 0 conform, 2 not run"));
  EXPECT_THAT(bytes_of(out() / "junit.xml"), HasSubstr("an earlier case diverged (--fail-fast)"));
}

}  // namespace
}  // namespace meshparity
