// For tests: planted cases run by the real programs, and what the driver's report says of them.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace meshparity {

/// What a run of some cases left: the program's exit code and one line of results a case.
struct Outcome {
  int exit_code = -1;
  std::map<std::string, nlohmann::json> reports;
};

/// `meshparity run IDS OPTIONS`, with all dumps kept under `out`.
Outcome run_cases(const std::vector<std::string>& ids, const std::filesystem::path& out,
                  const std::string& options = "");

/// The first finding of the first check that has one; null without any.
nlohmann::json first_finding(const nlohmann::json& report);

/// A line of the table of what was found, the program's output beside the test's verdict: fault,
/// check, record or first words of the finding, rank, step, how many limits over, case.
std::string found_line(const std::string& fault, const std::string& id,
                       const nlohmann::json& report);

/// How often planted faults fired in a dump, over all ranks.
double times_fired(const std::filesystem::path& dump);

}  // namespace meshparity
