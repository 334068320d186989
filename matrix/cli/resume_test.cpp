// A driver killed at any instant loses at most the cases in flight: resumed, it ends with the
// results of a run that nobody disturbed (contracts.md §10).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "fixtures/scratch_folder.hpp"
#include "matrix/launch.hpp"
#include "reports/report_json.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

using testing::HasSubstr;

/// Everything but what no two runs share: seconds.
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

class Resume : public testing::Test {
 protected:
  std::vector<std::string> words(const std::string& folder) const {
    std::vector<std::string> words = {
        MESHPARITY_PROGRAM,           "run",     "--out",
        (scratch_ / folder).string(), "--cache", (scratch_ / "cache").string()};
    words.insert(words.end(), asked_.begin(), asked_.end());
    return words;
  }
  int run(const std::string& folder, bool resumed) {
    std::vector<std::string> line = words(folder);
    if (resumed) {
      line.push_back("--resume");
    }
    Launch launch(line, scratch_ / "log");
    read_all(launch);
    return launch.wait().exit_code;
  }
  /// Killed after so many results, in the middle of others.
  void kill_after(std::size_t results, bool resumed) {
    std::vector<std::string> line = words("killed");
    if (resumed) {
      line.push_back("--resume");
    }
    Launch launch(line, scratch_ / "log");
    std::string text;
    for (std::size_t seen = 0; seen < results;) {
      if (launch.read_line(text, std::chrono::seconds(120)) != Launch::Read::line) {
        break;
      }
      seen += text.starts_with("conforms") ? 1 : 0;
    }
    launch.kill();
    launch.wait();
  }
  static void read_all(Launch& launch) {
    std::string text;
    while (launch.read_line(text, std::chrono::seconds(120)) == Launch::Read::line) {
    }
  }

  ScratchFolder scratch_;
  std::vector<std::string> asked_;
};

TEST_F(Resume, KilledThriceARunEndsLikeOneThatNobodyDisturbed) {
  for (const std::string mesh : {"single", "dp2", "tp2", "dp2-tp2", "tp4"}) {
    for (const std::string features : {"plain", "sgd", "mb2"}) {
      asked_.push_back(fmt::format("gpt-micro.{}.{}.fp64.host-threads", mesh, features));
    }
  }
  ASSERT_EQ(run("undisturbed", false), 0);

  kill_after(1, false);
  kill_after(2, true);
  kill_after(4, true);
  EXPECT_EQ(run("killed", true), 0);

  EXPECT_EQ(results_in(scratch_ / "killed"), results_in(scratch_ / "undisturbed"));
}

TEST_F(Resume, RelationsGoOnToo) {
  asked_ = {"--suite", "exact", "--only", "gpt-micro.dp2-tp4.sp-*"};
  ASSERT_EQ(run("undisturbed", false), 0);

  kill_after(2, false);
  EXPECT_EQ(run("killed", true), 0);

  EXPECT_EQ(results_in(scratch_ / "killed"), results_in(scratch_ / "undisturbed"));
}

TEST_F(Resume, AResultOfAnotherProgramIsMadeAgain) {
  asked_ = {"gpt-micro.dp2.plain.fp64.host-threads"};
  ASSERT_EQ(run("killed", false), 0);
  std::vector<CaseReport> reports = read_results(scratch_ / "killed" / "results.jsonl");
  reports.at(0).content = "of another build";
  reports.at(0).verdict = Verdict::diverges;
  replace_results(scratch_ / "killed" / "results.jsonl", reports);

  EXPECT_EQ(run("killed", true), 0);
  EXPECT_EQ(read_results(scratch_ / "killed" / "results.jsonl").size(), 1u);
}

TEST_F(Resume, AResultOfOneRunIsMadeAgainWhereTwoAreAskedFor) {
  asked_ = {"gpt-micro.tp2.steps1.fp64.host-threads+skip_rowlinear_sum", "--once"};
  ASSERT_EQ(run("killed", false), 1);
  EXPECT_NE(read_results(scratch_ / "killed" / "results.jsonl").at(0).checks.back().check,
            "repeatable");
  asked_.pop_back();

  EXPECT_EQ(run("killed", true), 1);

  EXPECT_EQ(read_results(scratch_ / "killed" / "results.jsonl").at(0).checks.back().check,
            "repeatable");
}

TEST_F(Resume, RefusesOtherCasesAndFoldersWithoutARun) {
  asked_ = {"gpt-micro.dp2.plain.fp64.host-threads"};
  EXPECT_EQ(run("nowhere", true), 2);
  ASSERT_EQ(run("killed", false), 0);
  asked_ = {"gpt-micro.tp2.plain.fp64.host-threads"};

  EXPECT_EQ(run("killed", true), 2);
}

}  // namespace
}  // namespace meshparity
