// What makes the exact relations true, undone: each fault that declares a relation breaks it,
// whether or not a limit sees it too. That the relations hold without faults is tested with the
// suite exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "fault_injection/planted_runs.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

std::map<std::string, std::vector<NamedFault>> faults_by_relation() {
  std::map<std::string, std::vector<NamedFault>> faults;
  for (const NamedFault& fault : fault_registry()) {
    if (!fault.relation.empty()) {
      faults[fault.relation].push_back(fault);
    }
  }
  return faults;
}

std::vector<std::string> planted(const std::vector<NamedFault>& faults) {
  std::vector<std::string> ids;
  for (const NamedFault& fault : faults) {
    for (const std::string& id : fault.related) {
      ids.push_back(with_fault(id, fault));
    }
  }
  return ids;
}

void expect_broken(const NamedFault& fault, const nlohmann::json& report) {
  const nlohmann::json finding = first_finding(report);
  EXPECT_EQ(report.at("verdict"), "diverges");
  EXPECT_EQ(report.at("relation"), fault.relation);
  ASSERT_FALSE(finding.is_null());
  EXPECT_EQ(finding.at("record"), fault.related_record);
}

TEST(BrokenRelations, AreSeenForEachFaultThatDeclaresOne) {
  const ScratchFolder folder;
  for (const auto& [relation, faults] : faults_by_relation()) {
    SCOPED_TRACE(relation);

    const Outcome run =
        run_cases(planted(faults), folder.path() / relation, "--relation " + relation);

    EXPECT_EQ(run.exit_code, 1);
    for (const NamedFault& fault : faults) {
      for (const std::string& plain : fault.related) {
        const std::string id = with_fault(plain, fault);
        SCOPED_TRACE(id);
        ASSERT_TRUE(run.reports.count(id));
        expect_broken(fault, run.reports.at(id));
      }
    }
  }
}

// The same cases conform, so the relation alone finds these.
TEST(BrokenRelations, FourOfFiveAreWithinEveryLimit) {
  int of_relation_alone = 0;
  for (const NamedFault& fault : fault_registry()) {
    of_relation_alone += !fault.relation.empty() && fault.acts_in.empty() ? 1 : 0;
    for (const std::string& id :
         fault.acts_in.empty() ? fault.related : std::vector<std::string>()) {
      EXPECT_EQ(std::count(fault.invisible_in.begin(), fault.invisible_in.end(), id), 1) << id;
    }
  }
  EXPECT_EQ(of_relation_alone, 4);
}

}  // namespace
}  // namespace meshparity
