// All faults again in fp32, where rounding hides some of them: those that no run finds there are
// the table of this folder's README, no more and no fewer.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fault_injection/fault_registry.hpp"
#include "fault_injection/planted_runs.hpp"
#include "fixtures/scratch_folder.hpp"

namespace meshparity {
namespace {

std::string in_fp32(std::string id) {
  const std::size_t precision = id.find(".fp64.");
  return precision == id.npos ? id : id.replace(precision, 6, ".fp32.");
}

/// The faults named first in the rows of the README's table: "| `name` | why |".
std::set<std::string> listed_blind_spots() {
  std::set<std::string> names;
  std::ifstream readme(MESHPARITY_BLIND_SPOTS);
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("| `")) {
      names.insert(line.substr(3, line.find('`', 3) - 3));
    }
  }
  return names;
}

std::vector<std::string> planted_in_fp32(const NamedFault& fault) {
  std::vector<std::string> ids;
  for (const std::string& id : fault.acts_in) {
    ids.push_back(with_fault(in_fp32(id), fault));
  }
  return ids;
}

TEST(BlindSpots, InFp32AreThoseOfTheReadme) {
  const ScratchFolder folder;
  std::map<Level, Outcome> runs;
  for (const Level level : {Level::standard, Level::all}) {
    std::vector<std::string> ids;
    for (const NamedFault& fault : fault_registry()) {
      const std::vector<std::string> planted = planted_in_fp32(fault);
      ids.insert(ids.end(), planted.begin(),
                 fault.level == level ? planted.end() : planted.begin());
    }
    const std::string name(level_name(level));
    runs[level] = run_cases(ids, folder / name, "--level " + name);
  }

  std::set<std::string> unseen;
  for (const NamedFault& fault : fault_registry()) {
    for (const std::string& id : planted_in_fp32(fault)) {
      const Outcome& run = runs.at(fault.level);
      ASSERT_TRUE(run.reports.count(id)) << id;
      const std::string verdict = run.reports.at(id).at("verdict");
      EXPECT_TRUE(verdict == "diverges" || verdict == "conforms") << id << " " << verdict;
      if (verdict == "conforms") {
        unseen.insert(fault.name);
      }
    }
  }
  EXPECT_EQ(unseen, listed_blind_spots());
}

}  // namespace
}  // namespace meshparity
