// Every named fault end to end: planted in the worker, found by the driver from the dumps alone, by
// the check and at the record that the registry declares; and invisible where it must be. Prints
// the table: one line a fault and case, with how many limits over it was.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "fault_injection/planted_runs.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

/// Else the finding is about calls, about a run that left no dump, or about places as they are
/// declared; a probe's coverage is about values.
bool is_about_values(const NamedFault& fault, const std::string& id) {
  const bool places = fault.check == "coverage" && id.find("+probe") == id.npos;
  return !fault.record.empty() && !places;
}

void expect_values(const nlohmann::json& finding) {
  EXPECT_FALSE(finding.at("index").empty());
  EXPECT_TRUE(finding.at("has_values").get<bool>());
  EXPECT_NE(finding.at("reference").get<double>(), finding.at("candidate").get<double>());
  EXPECT_NE(finding.at("derivation"), "");
}

void expect_placed(const NamedFault& fault, const std::string& id, const nlohmann::json& report) {
  SCOPED_TRACE(id);
  const nlohmann::json finding = first_finding(report);
  EXPECT_EQ(report.at("verdict"), "diverges");
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding.at("check"), fault.check);
  EXPECT_EQ(finding.at("record"), fault.record);
  EXPECT_EQ(finding.at("step"), fault.step);
  EXPECT_NE(std::find(fault.ranks.begin(), fault.ranks.end(), finding.at("rank").get<int>()),
            fault.ranks.end());
  EXPECT_NE(finding.at("coordinate"), "");
  EXPECT_NE(report.at("replay").get<std::string>().find("replay " + id), std::string::npos);
  if (is_about_values(fault, id)) {
    expect_values(finding);
  }
}

using CaseList = std::vector<std::string> NamedFault::*;

/// Every case of a list of each fault that is looked for at `level`, planted.
std::vector<std::string> planted(CaseList list, Level level) {
  std::vector<std::string> ids;
  for (const NamedFault& fault : fault_registry()) {
    for (const std::string& id : fault.*list) {
      if (fault.level == level) {
        ids.push_back(with_fault(id, fault));
      }
    }
  }
  return ids;
}

/// A list of each fault run, at the level that it asks for.
class PlantedRuns {
 public:
  explicit PlantedRuns(CaseList list) {
    for (const Level level : {Level::standard, Level::all}) {
      const std::string name(level_name(level));
      runs_[level] = run_cases(planted(list, level), folder_ / name, "--level " + name);
    }
  }

  std::set<int> exit_codes() const {
    return {runs_.at(Level::standard).exit_code, runs_.at(Level::all).exit_code};
  }
  bool has(const NamedFault& fault, const std::string& id) const {
    return runs_.at(fault.level).reports.count(id) > 0;
  }
  const nlohmann::json& report(const NamedFault& fault, const std::string& id) const {
    return runs_.at(fault.level).reports.at(id);
  }
  double times_fired(const NamedFault& fault, const std::string& id) const {
    return meshparity::times_fired(folder_ / std::string(level_name(fault.level)) / id / "dump");
  }

 private:
  ScratchFolder folder_;
  std::map<Level, Outcome> runs_;
};

TEST(Sensitivity, EachFaultIsFoundByItsCheckAtItsRecord) {
  const PlantedRuns runs(&NamedFault::acts_in);

  EXPECT_EQ(runs.exit_codes(), std::set<int>{1});
  for (const NamedFault& fault : fault_registry()) {
    for (const std::string& plain : fault.acts_in) {
      const std::string id = with_fault(plain, fault);
      ASSERT_TRUE(runs.has(fault, id)) << id;
      fmt::print("{}\n", found_line(fault.name, plain, runs.report(fault, id)));
      expect_placed(fault, id, runs.report(fault, id));
      EXPECT_TRUE(fault.check == "liveness" || runs.times_fired(fault, id) > 0) << id;
    }
  }
}

// Where a fault is found nowhere but by a relation, or nowhere at all, it must at least have fired.
TEST(Sensitivity, EachFaultIsInvisibleWhereItsRegistryEntrySaysSo) {
  const PlantedRuns runs(&NamedFault::invisible_in);

  EXPECT_EQ(runs.exit_codes(), std::set<int>{0});
  for (const NamedFault& fault : fault_registry()) {
    for (const std::string& plain : fault.invisible_in) {
      const std::string id = with_fault(plain, fault);
      ASSERT_TRUE(runs.has(fault, id)) << id;
      fmt::print("{}\n", found_line(fault.name, plain, runs.report(fault, id)));
      EXPECT_EQ(runs.report(fault, id).at("verdict"), "conforms")
          << id << first_finding(runs.report(fault, id)).dump(1);
      EXPECT_TRUE(!fault.acts_in.empty() || runs.times_fired(fault, id) > 0) << id;
    }
  }
}

/// Every finding of one check.
nlohmann::json findings_of(const nlohmann::json& report, const std::string& name) {
  for (const nlohmann::json& check : report.at("checks")) {
    if (check.at("check") == name) {
      return check.at("findings");
    }
  }
  return nlohmann::json::array();
}

// The values come first; the ledgers then say which call is missing, on each rank and in each step.
TEST(SensitivityOfLedgers, ACollectiveThatIsLeftOutIsNamed) {
  const std::string id = "gpt-micro.dp2.steps1.fp64.host-threads+skip_dp_grad";
  const ScratchFolder folder;

  const Outcome run = run_cases({id}, folder.path() / "run");

  ASSERT_TRUE(run.reports.count(id));
  EXPECT_EQ(first_finding(run.reports.at(id)).at("check"), "replicas");
  const nlohmann::json findings = findings_of(run.reports.at(id), "collectives");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.at(1).at("coordinate"), "dp1");
  EXPECT_NE(findings.at(1).at("text").get<std::string>().find(
                "layer0.grad.dp/grad left out: expected all_reduce of 8 float64"),
            std::string::npos);
}

// With every token valid the values come first; the list of what was done then says where it left
// the schedule.
TEST(SensitivityOfLedgers, WorkThatIsLeftUndoneOrDoneTooSoonIsNamed) {
  const std::string undone =
      "gpt-micro.pp2.zbh1-mb4-maskfull-steps1.fp64.host-threads+last_weights_undone-r1";
  const std::string early =
      "llama-micro.dp2-pp2.1f1b-mb2-steps1.fp64.host-threads+sums_in_cooldown";
  const ScratchFolder folder;

  const Outcome run = run_cases({undone, early}, folder.path() / "run");

  ASSERT_EQ(run.reports.size(), 2u);
  const nlohmann::json first = findings_of(run.reports.at(undone), "schedule").at(0);
  EXPECT_EQ(first_finding(run.reports.at(undone)).at("check"), "grad");
  EXPECT_EQ(first_finding(run.reports.at(early)).at("check"), "replicas");
  EXPECT_EQ(first.at("rank"), 1);
  EXPECT_EQ(first.at("text"),
            "action 20: W of chunk 1 mb 3 left out: expected W of chunk 1 mb 3; did reduce");
  const nlohmann::json findings = findings_of(run.reports.at(early), "schedule");
  ASSERT_EQ(findings.size(), 4u);
  EXPECT_EQ(findings.at(0).at("text"),
            "action 8: B of chunk 0 mb 1 out of order: expected B of chunk 0 mb 1; did reduce");
}

}  // namespace
}  // namespace meshparity
