// The shards of a run, merged, are the run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "fixtures/scratch_folder.hpp"
#include "matrix/cli/program_run.hpp"
#include "matrix/run_dir.hpp"
#include "reports/report_json.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Verdicts, findings, margins, all but seconds.
std::map<std::string, std::string> results_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> results;
  for (CaseReport& report : read_results(folder / "results.jsonl")) {
    report.seconds = 0;
    const std::string name = report.relation + " " + report.case_id;
    EXPECT_FALSE(results.contains(name)) << name << " is there twice";
    results[name] = format_report(report);
  }
  return results;
}

class ShardRun : public testing::Test {
 protected:
  int meshparity(std::vector<std::string> words) {
    words.insert(words.begin(), MESHPARITY_PROGRAM);
    const ProgramRun ran = run_to_end(words, scratch_ / "stderr");
    said_ = ran.out + ran.err;
    return ran.exit;
  }
  std::string folder(const std::string& name) const { return (scratch_ / name).string(); }
  int run(const std::string& name, const std::string& shard = "1/1") {
    std::vector<std::string> words = {"run",           "--out",   folder(name), "--cache",
                                      folder("cache"), "--shard", shard};
    words.insert(words.end(), asked_.begin(), asked_.end());
    return meshparity(words);
  }
  static std::string id(const std::string& layout) {
    return fmt::format("gpt-micro.{}.fp64.host-threads", layout);
  }

  ScratchFolder scratch_;
  std::string said_;
  std::vector<std::string> asked_;
};

TEST_F(ShardRun, MergedShardsAreTheRun) {
  asked_ = {id("single.steps1"),
            id("dp2.steps1"),
            id("tp2.steps1"),
            id("dp2-tp2.steps1"),
            id("tp2.steps1") + "+skip_rowlinear_sum",
            id("tp5.steps1"),
            id("single.mb2-steps1")};
  EXPECT_EQ(run("whole"), 1);
  EXPECT_EQ(run("a", "1/3"), 3);  // conforms, but a case that was asked for is excluded
  EXPECT_EQ(run("b", "2/3"), 1);
  EXPECT_EQ(run("c", "3/3"), 3);

  EXPECT_EQ(meshparity({"report", folder("c"), folder("a"), folder("b"), "--out", folder("new")}),
            1);

  EXPECT_EQ(results_in(scratch_ / "new"), results_in(scratch_ / "whole"));
  const RunPlan merged = read_plan(scratch_ / "new" / "plan.json");
  EXPECT_EQ(merged.cases, read_plan(scratch_ / "whole" / "plan.json").cases);
  EXPECT_EQ(merged.shard, "");
  EXPECT_THAT(merged.command, Not(HasSubstr("--shard")));
  EXPECT_THAT(text_of(scratch_ / "new" / "report.md"), Not(HasSubstr("no result")));
  EXPECT_THAT(text_of(scratch_ / "a" / "report.md"), Not(HasSubstr("no result")));
  EXPECT_THAT(said_, HasSubstr("1 diverge, 5 conform, 1 not run; report: "));
}

TEST_F(ShardRun, RelationsAreDealtToo) {
  asked_ = {"--suite", "exact", "--only", "gpt-micro.dp2-tp4.sp-*"};
  EXPECT_EQ(run("whole"), 0);
  EXPECT_EQ(run("a", "1/2"), 0);
  EXPECT_EQ(run("b", "2/2"), 0);

  EXPECT_EQ(meshparity({"report", folder("a"), folder("b"), "--out", folder("new")}), 0);

  EXPECT_EQ(results_in(scratch_ / "new"), results_in(scratch_ / "whole"));
  EXPECT_LT(results_in(scratch_ / "a").size(), results_in(scratch_ / "whole").size());
}

TEST_F(ShardRun, AShardThatIsMissingIsSeen) {
  asked_ = {id("single.steps1"), id("dp2.steps1"), id("tp2.steps1")};
  run("a", "1/3");
  run("b", "2/3");

  EXPECT_EQ(
      meshparity({"report", folder("a"), folder("b"), "--out", folder("new"), "--annotations"}), 3);

  EXPECT_THAT(said_, HasSubstr("2 conform, 1 without result; report: "));
  EXPECT_THAT(said_, HasSubstr("::error title=meshparity::1 cases have no result\n"));
  EXPECT_THAT(text_of(scratch_ / "new" / "junit.xml"), HasSubstr("no result"));
}

TEST_F(ShardRun, ReportRendersAgainAndSpeaksToACiService) {
  asked_ = {id("tp2.steps1") + "+skip_rowlinear_sum", id("dp2.steps1")};
  run("whole");
  const std::string page = text_of(scratch_ / "whole" / "report.md");
  std::filesystem::remove(scratch_ / "whole" / "report.md");
  std::filesystem::remove(scratch_ / "whole" / "junit.xml");

  EXPECT_EQ(
      meshparity({"report", folder("whole"), "--summary", folder("summary.md"), "--annotations"}),
      1);

  EXPECT_EQ(text_of(scratch_ / "whole" / "report.md"), page);
  EXPECT_EQ(text_of(scratch_ / "summary.md"), page);
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "whole" / "junit.xml"));
  EXPECT_THAT(said_,
              testing::StartsWith("::error title=" + asked_.front() + "::diverges: forward"));
}

TEST_F(ShardRun, RefusesAnEmptyShardAndFoldersThatAreNone) {
  asked_ = {id("single.steps1")};
  EXPECT_EQ(run("a", "2/2"), 2);
  EXPECT_THAT(said_, HasSubstr("shard 2/2 holds nothing: the selection has 1 cases"));
  EXPECT_EQ(run("a", "3/2"), 2);
  EXPECT_EQ(meshparity({"report", folder("absent")}), 2);
  EXPECT_THAT(said_, HasSubstr("is no folder of a run"));
}

}  // namespace
}  // namespace meshparity
