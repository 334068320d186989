#include "reports/merge.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/error.hpp"
#include "fixtures/scratch_folder.hpp"
#include "reports/missing.hpp"
#include "reports/result_store.hpp"

namespace meshparity {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Merge : public testing::Test {
 protected:
  /// A shard of four cases a to d and one that is excluded, with the results of these.
  StoredRun shard(const std::string& text, const std::vector<std::string>& ids) {
    StoredRun run{RunDir::create(scratch_ / fmt::format("run{}", runs_++)), {}, {}};
    run.plan.command = "meshparity run --shard " + text + " --only x";
    run.plan.started = fmt::format("2026-01-0{}", runs_);
    run.plan.commit = "c0ffee";
    run.plan.level = "standard";
    run.plan.cpu = "one";
    run.plan.cases = {"a", "b", "c", "d"};
    run.plan.excluded = {{"e", "no GPU"}};
    run.plan.shard = text;
    for (const std::string& id : ids) {
      run.reports.emplace_back().case_id = id;
    }
    CaseReport excluded;
    excluded.case_id = "e";
    excluded.not_run = "no GPU";
    run.reports.push_back(excluded);
    return run;
  }
  static std::vector<std::string> ids(const MergedRun& merged) {
    std::vector<std::string> ids;
    for (const CaseReport& report : merged.reports) {
      ids.push_back(report.case_id);
    }
    return ids;
  }
  std::string refusal(const StoredRun& a, const StoredRun& b) {
    return message_of<UsageError>([&] { merge_runs({a, b}); });
  }

  ScratchFolder scratch_;
  int runs_ = 0;
};

TEST_F(Merge, PutsResultsInThePlansOrderAndExcludedCasesOnceAtTheEnd) {
  const MergedRun merged = merge_runs({shard("2/2", {"d", "b"}), shard("1/2", {"a", "c"})});

  EXPECT_THAT(ids(merged), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_EQ(merged.plan.shard, "");
  EXPECT_EQ(merged.plan.command, "meshparity run --only x");
  EXPECT_EQ(merged.plan.started, "2026-01-01");
  EXPECT_EQ(merged.plan.cpu, "one");
  EXPECT_THAT(without_result(merged.plan, merged.reports), IsEmpty());
}

TEST_F(Merge, AMissingShardLeavesCasesWithoutResult) {
  const MergedRun merged = merge_runs({shard("1/3", {"a", "d"}), shard("3/3", {"c"})});

  EXPECT_THAT(without_result(merged.plan, merged.reports), ElementsAre("b"));
}

TEST_F(Merge, AShardMissesOnlyWhatIsItsOwn) {
  const StoredRun run = shard("2/2", {"b"});

  EXPECT_THAT(without_result(run.plan, run.reports), ElementsAre("d"));
}

TEST_F(Merge, NamesEveryMachineOnce) {
  StoredRun other = shard("2/2", {});
  other.plan.cpu = "two";

  EXPECT_EQ(merge_runs({shard("1/2", {}), other}).plan.cpu, "one; two");
}

TEST_F(Merge, RefusesAnotherCommitLevelOrSelection) {
  StoredRun other = shard("2/2", {});
  other.plan.commit = "decaf";
  EXPECT_THAT(refusal(shard("1/2", {}), other), AllOf(HasSubstr("are no shards of one run"),
                                                      HasSubstr("commit c0ffee against decaf")));
  other = shard("2/2", {});
  other.plan.level = "all";
  EXPECT_THAT(refusal(shard("1/2", {}), other), HasSubstr("level standard against all"));
  other = shard("2/2", {});
  other.plan.cases.pop_back();
  EXPECT_THAT(refusal(shard("1/2", {}), other), HasSubstr("another selection (4 cases, "));
  other = shard("2/2", {});
  other.plan.relations = {{"sp", "a", "b"}};
  EXPECT_THAT(refusal(shard("1/2", {}), other), HasSubstr("another selection"));
  other = shard("2/2", {});
  other.plan.excluded[0].reason = "no MPI";
  EXPECT_THAT(refusal(shard("1/2", {}), other), HasSubstr("another selection"));
}

TEST_F(Merge, RefusesOneShardTwiceAnotherDealAndAWholeRun) {
  EXPECT_THAT(refusal(shard("1/2", {}), shard("1/2", {})), HasSubstr("shard 1/2 is there twice"));
  EXPECT_THAT(refusal(shard("1/2", {}), shard("2/3", {})), HasSubstr("shard 1/2 against 2/3"));
  EXPECT_THAT(refusal(shard("1/2", {}), shard("", {})), HasSubstr("is a whole run"));
}

TEST_F(Merge, ReadsWhatARunLeft) {
  const StoredRun left = shard("1/2", {"a"});
  write_plan(left.dir.plan(), left.plan);
  replace_results(left.dir.results(), left.reports);

  const StoredRun read = read_run(left.dir.root());

  EXPECT_EQ(read.plan.shard, "1/2");
  EXPECT_EQ(read.reports.size(), 2u);
  EXPECT_THAT(message_of<UsageError>([&] { read_run(scratch_ / "nowhere"); }),
              HasSubstr("is no folder of a run"));
}

}  // namespace
}  // namespace meshparity
