// Every named fault end to end: planted in the worker, found by the driver from the dumps alone, by
// the check and at the record that the registry declares; and invisible where it must be.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "fixtures/dump.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

/// What a run of some cases left: the program's exit code and one line of results a case.
struct Outcome {
  int exit_code = -1;
  std::map<std::string, nlohmann::json> reports;
};

Outcome run_cases(const std::vector<std::string>& ids, const std::filesystem::path& out) {
  std::string command = fmt::format("{} run --cache {} --out {} --keep all", MESHPARITY_PROGRAM,
                                    MESHPARITY_CACHE, out.string());
  for (const std::string& id : ids) {
    command += " " + id;
  }
  command += " > /dev/null";
  Outcome run;
  run.exit_code = WEXITSTATUS(std::system(command.c_str()));
  std::ifstream results(out / "results.jsonl");
  for (std::string line; std::getline(results, line);) {
    nlohmann::json report = nlohmann::json::parse(line);
    run.reports[report.at("case").get<std::string>()] = report;
  }
  return run;
}

std::vector<std::string> with_fault(const std::vector<std::string>& ids, const std::string& name) {
  std::vector<std::string> harmed;
  for (const std::string& id : ids) {
    harmed.push_back(id + "+" + name);
  }
  return harmed;
}

/// The first finding of the first check that has one.
nlohmann::json first_finding(const nlohmann::json& report) {
  for (const nlohmann::json& check : report.at("checks")) {
    if (!check.at("findings").empty()) {
      return check.at("findings").front();
    }
  }
  return nullptr;
}

/// How often the planted fault fired, over all ranks.
double times_fired(const std::filesystem::path& dump) {
  double times = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dump)) {
    if (entry.path().extension() == ".h5") {
      for (const EventRow& event : DumpReader(entry.path()).ledgers().events) {
        times += event.value;
      }
    }
  }
  return times;
}

void expect_placed(const NamedFault& fault, const std::string& id, const nlohmann::json& report) {
  SCOPED_TRACE(id);
  const nlohmann::json finding = first_finding(report);
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(report.at("verdict"), "diverges");
  EXPECT_EQ(finding.at("check"), fault.check);
  EXPECT_EQ(finding.at("record"), fault.record);
  EXPECT_EQ(finding.at("step"), 0);
  EXPECT_NE(std::find(fault.ranks.begin(), fault.ranks.end(), finding.at("rank").get<int>()),
            fault.ranks.end());
  EXPECT_NE(finding.at("coordinate"), "");
  EXPECT_FALSE(finding.at("index").empty());
  EXPECT_TRUE(finding.at("has_values").get<bool>());
  EXPECT_NE(finding.at("reference").get<double>(), finding.at("candidate").get<double>());
  EXPECT_NE(finding.at("derivation"), "");
  EXPECT_NE(report.at("replay").get<std::string>().find("replay " + id), std::string::npos);
}

class Sensitivity : public testing::TestWithParam<NamedFault> {};

TEST_P(Sensitivity, TheFaultIsFoundByItsCheckAtItsRecord) {
  const NamedFault& fault = GetParam();
  const ScratchFolder folder;
  const auto out = folder.path() / "run";

  const Outcome run = run_cases(with_fault(fault.acts_in, fault.name), out);

  EXPECT_EQ(run.exit_code, 1);
  for (const std::string& id : with_fault(fault.acts_in, fault.name)) {
    ASSERT_TRUE(run.reports.count(id)) << id;
    expect_placed(fault, id, run.reports.at(id));
    EXPECT_GT(times_fired(out / id / "dump"), 0) << id;
  }
}

TEST_P(Sensitivity, TheFaultIsInvisibleWhereItsRegistryEntrySaysSo) {
  const NamedFault& fault = GetParam();
  const ScratchFolder folder;

  const Outcome run = run_cases(with_fault(fault.invisible_in, fault.name), folder.path() / "run");

  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.reports.size(), fault.invisible_in.size());
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
  const std::string id = "gpt-tiny.dp2.steps1.fp64.host-threads+skip_dp_grad";
  const ScratchFolder folder;

  const Outcome run = run_cases({id}, folder.path() / "run");

  ASSERT_TRUE(run.reports.count(id));
  EXPECT_EQ(first_finding(run.reports.at(id)).at("check"), "replicas");
  const nlohmann::json findings = findings_of(run.reports.at(id), "collectives");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings.at(1).at("coordinate"), "dp1");
  EXPECT_NE(findings.at(1).at("text").get<std::string>().find(
                "layer0.grad.dp/grad left out: expected all_reduce of 72 float64"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Faults, Sensitivity, testing::ValuesIn(fault_registry()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace meshparity
